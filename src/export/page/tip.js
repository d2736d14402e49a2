// tip.js: the reason of what is missing or doubtful, beside it, under the pointer or with the keyboard.
import { make } from "./words.js";

export function start() {
  const tip = document.body.appendChild(make("div", "tip"));
  let element = null;
  tip.setAttribute("aria-hidden", "true"); // the element says the same by aria-description

  const place = () => {
    tip.hidden = !element;
    if (!element) return;
    tip.textContent = element.dataset.how;
    const box = element.getBoundingClientRect(), below = box.bottom + tip.offsetHeight + 12 < innerHeight;
    tip.style.left = Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (below ? box.bottom + 5 : box.top - tip.offsetHeight - 5) + "px";
  };
  const point = (event) => {
    element = event.target.closest ? event.target.closest("[data-how]") : null;
    place();
  };
  place();
  document.addEventListener("pointerover", point);
  document.addEventListener("focusin", point);
  // What has the keyboard was scrolled to; what was under the pointer is there no more.
  addEventListener("scroll", () => {
    if (element !== document.activeElement) element = null;
    place();
  }, { passive: true, capture: true });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    element = null;
    place();
  });
}
