// Ctrl-K, or a slash outside of a field: go anywhere by keyboard. Without this file the form in the head does the same.
"use strict";

const palette = document.getElementById("palette");
const field = document.getElementById("goto");
const matches = document.getElementById("matches");
let chosen = -1;

document.addEventListener("keydown", (event) => {
  // The field keeps the focus for a moment after the palette has closed.
  const writing = event.target !== field && event.target.closest("input, select, textarea, [contenteditable]");
  const asked = (event.key === "k" || event.key === "K") && (event.ctrlKey || event.metaKey);
  if (palette.open || !(asked || (event.key === "/" && !writing && !event.ctrlKey && !event.metaKey && !event.altKey))) return;
  event.preventDefault();
  palette.showModal();
  field.select();
});

palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });

field.addEventListener("keydown", (event) => {
  const every = matches.querySelectorAll("[role=option]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && every.length) {
    event.preventDefault();
    choose((chosen + step + every.length) % every.length);
  } else if (event.key === "Enter" && chosen >= 0) {
    event.preventDefault();
    every[chosen].click();
  }
});

// What was typed last is not answered yet: what is listed is of something else, and Enter leads to the page that finds.
field.addEventListener("input", () => choose(-1));

matches.addEventListener("htmx:afterSwap", (event) => {
  const every = matches.querySelectorAll("[role=option]");
  field.setAttribute("aria-expanded", String(every.length > 0));
  document.getElementById("matched").textContent = field.value.trim() ? `${every.length - 1} fit` : "";
  choose(every.length > 1 && event.detail.requestConfig.parameters.q === field.value ? 0 : -1);
});

function choose(number) {
  chosen = number;
  matches.querySelectorAll("[role=option]").forEach((each, at) => {
    each.setAttribute("aria-selected", String(at === chosen));
    if (at === chosen) each.scrollIntoView({ block: "nearest" });
  });
  if (chosen < 0) field.removeAttribute("aria-activedescendant");
  else field.setAttribute("aria-activedescendant", matches.querySelectorAll("[role=option]")[chosen].id);
}
