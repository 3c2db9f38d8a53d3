"use strict";
(() => {
  const list = document.getElementById("cards");
  const form = document.getElementById("controls");
  const field = (name) => document.getElementById(name);
  const value = (name) => field(name)?.value ?? "";
  // Figures that are not there sort last, in either direction.
  const cards = [...list.children].map((node) => ({
    node,
    text: node.dataset.name.toLowerCase(),
    reasons: JSON.parse(node.dataset.reasons),
    number: (name) => (node.dataset[name] === "" ? null : Number(node.dataset[name])),
  }));
  const names = new Intl.Collator(undefined, { numeric: true });

  function compare(key, direction) {
    if (key === "name") return (a, b) => direction * names.compare(a.node.dataset.name, b.node.dataset.name);
    return (a, b) => {
      const [x, y] = [a.number(key), b.number(key)];
      if (x === null || y === null) return (x === null) - (y === null) || a.number("order") - b.number("order");
      return direction * (x - y) || a.number("order") - b.number("order");
    };
  }

  function matches(card) {
    const data = card.node.dataset;
    const [low, high] = [value("low"), value("high")];
    const figure = card.number(value("term"));
    return (
      (!value("status") || data.status === value("status")) &&
      (!value("reason") || card.reasons.includes(value("reason"))) &&
      (!value("built") || data.built === value("built")) &&
      (low === "" || (figure !== null && figure >= Number(low))) &&
      (high === "" || (figure !== null && figure <= Number(high))) &&
      card.text.includes(value("search").trim().toLowerCase())
    );
  }

  function show() {
    const [key, direction] = value("sort").split(":");
    let shown = 0;
    for (const card of cards) {
      const visible = matches(card);
      card.node.hidden = !visible;
      shown += visible;
    }
    list.append(...[...cards].sort(compare(key, Number(direction))).map((card) => card.node));
    field("found").textContent = `${shown} shown`;
    field("empty").hidden = shown > 0;
    remember();
  }

  // The choice stays in the address, so that it survives a visit to a report and can be passed on.
  const chosen = ["sort", "status", "reason", "built", "term", "low", "high", "search"];
  function remember() {
    const words = new URLSearchParams();
    for (const name of chosen) if (value(name) && value(name) !== first[name]) words.set(name, value(name));
    history.replaceState(null, "", words.size ? `#${words}` : location.pathname + location.search);
  }
  const first = Object.fromEntries(chosen.map((name) => [name, value(name)]));
  for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
    if (chosen.includes(name) && field(name)) field(name).value = text;
  }

  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  show();
})();
