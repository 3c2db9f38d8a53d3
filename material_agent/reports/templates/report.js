"use strict";
const slider = document.getElementById("slider");
if (slider) {
  const range = slider.querySelector("input");
  const cut = () => slider.style.setProperty("--cut", `${range.value}%`);
  range.addEventListener("input", cut);
  cut();
}
const dialog = document.createElement("dialog");
const large = document.createElement("img");
dialog.append(large);
document.body.append(dialog);
dialog.addEventListener("click", () => dialog.close());
for (const picture of document.querySelectorAll(".strip img")) {
  picture.addEventListener("click", () => {
    large.src = picture.src;
    large.alt = picture.alt;
    dialog.showModal();
  });
}
