// tip.js: shows why a value is missing or inexact, on hover or keyboard focus.
import { make } from "./words.js";

export function start() {
  const tip = document.body.appendChild(make("div", "tip"));
  let element = null;
  tip.setAttribute("aria-hidden", "true"); // the element's aria-description has the same text

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
  // A focused element was scrolled into view; the pointer is over another element now.
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
