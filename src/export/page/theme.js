// theme.js: sets the theme: light, dark, or that of the system. Runs before anything is drawn, so that
// nothing flashes; page.js changes it.
"use strict";
document.documentElement.classList.add("js");
try {
  var theme = localStorage.getItem("vitals-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch (denied) { /* this browser stores nothing: the theme of the system */ }
