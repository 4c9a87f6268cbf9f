// Before the first paint, so that no page flashes in the other colours.
(function () {
  "use strict";
  document.documentElement.classList.add("js");
  try {
    var chosen = localStorage.getItem("newscrawl-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch (_) { /* storage is closed: the system's colours stay */ }
})();
