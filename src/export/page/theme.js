// theme.js: light, dark, or as the system has it. Runs before anything is drawn, so that nothing
// flashes; page.js turns it.
"use strict";
document.documentElement.classList.add("js");
try {
  var theme = localStorage.getItem("vitals-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch (denied) { /* nothing is kept in this browser: then it is as the system has it */ }
