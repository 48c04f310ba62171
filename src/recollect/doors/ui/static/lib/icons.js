// Small drawings for buttons that have no room for words; what they mean is said by the button itself.
import { h } from "./dom.js";
import { t } from "./words.js";

const PATHS = {
  pin: "M9 3h6l-1 7 4 3v2H6v-2l4-3zM12 15v6",
  forget: "M4 7h16M10 7V4h4v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  search: "M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14zM16 16l5 5",
  close: "M6 6l12 12M18 6L6 18",
  auto: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18zM12 3v18M12 8h6M12 12h8M12 16h6",
  dark: "M20 14A8.5 8.5 0 1 1 10 4a7 7 0 0 0 10 10z",
  light: "M12 8a4 4 0 1 0 0 8a4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19",
};

export const icon = (name, filled = false) => h("svg", { class: filled ? "drawn filled" : "drawn", viewBox: "0 0 24 24", "aria-hidden": "true" }, h("path", { d: PATHS[name] }));

/** A button that shows a drawing and says what it does. */
export const iconButton = (name, words, act, { pressed } = {}) => h("button", { type: "button", class: "icon", title: words, "aria-label": words, "aria-pressed": pressed === undefined ? null : String(pressed), onclick: act }, icon(name, pressed));

/** A field that looks like what it does: a page has fields for writing, too. */
export const searchField = (properties) => h("span", { class: "search-field" }, icon("search"),
  h("input", { type: "search", "data-search": true, "aria-label": t("search"), autocomplete: "off", ...properties }));
