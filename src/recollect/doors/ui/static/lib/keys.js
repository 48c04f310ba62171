// Shortcuts. None of them acts while something is being typed.
import { $, h } from "./dom.js";
import { tell } from "./dialog.js";
import { go } from "./router.js";
import { t } from "./words.js";

const PLACES = { m: "memories", l: "lab", c: "chat", v: "conversations", s: "controls", o: "operations" };
let leading = false;

export function help() {
  const row = (keys, words) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, words)];
  tell(t("keys.title"), h("dl", { class: "keys" }, row("/", t("keys.search")), row("n", t("keys.new")),
    Object.entries(PLACES).map(([key, place]) => row(`g ${key}`, t(`nav.${place}`))),
    row("↑ ↓  j k", t("keys.move")), row("Enter", t("keys.open")), row("p", t("keys.pin")), row("Del", t("keys.forget")),
    row("Esc", t("keys.close")), row("?", t("keys.help"))));
}

export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
    if (leading) {
      leading = false;
      if (event.key in PLACES) { event.preventDefault(); go(PLACES[event.key]); }
      return;
    }
    if (event.key === "g") leading = true;
    else if (event.key === "?") help();
    else if (event.key === "/" || event.key === "n") {
      const field = $(event.key === "/" ? "[data-search]" : "[data-new]");
      if (field) { event.preventDefault(); field.focus(); }
    }
  });
}
