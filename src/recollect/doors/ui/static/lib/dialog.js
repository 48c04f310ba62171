// Questions that need an answer before going on.
import { $, h } from "./dom.js";
import { t } from "./words.js";

function open(title, body, { accept, danger = false, asks = true, ready = () => true, value = () => true }) {
  return new Promise((resolve) => {
    const yes = h("button", { type: "submit", class: danger ? "danger" : "primary" }, accept);
    const form = h("form", { method: "dialog" }, h("h2", { id: "dialog-title" }, title), body,
      h("div", { class: "row end" }, asks ? h("button", { type: "button", onclick: () => dialog.close() }, t("cancel")) : null, yes));
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, form);
    const check = () => { yes.disabled = !ready(); };
    let answer = null;
    form.addEventListener("input", check);
    form.addEventListener("submit", () => { answer = value(); });
    dialog.addEventListener("close", () => { dialog.remove(); resolve(answer); });
    $("#dialogs").append(dialog);
    check();
    dialog.showModal();
  });
}

/** True, or null for no. */
export const confirm = (title, words, accept) => open(title, h("p", {}, words), { accept });

/** True only when `word` was typed letter by letter. */
export function confirmTyped(title, words, word, accept) {
  const typed = h("input", { id: "typed", autocomplete: "off", spellcheck: "false" });
  const body = h("div", {}, h("p", {}, words), h("label", { for: "typed" }, t("type.to.confirm", { word })), typed);
  return open(title, body, { accept, danger: true, ready: () => typed.value === word });
}

/** A line of text, or null. */
export function askFor(title, label, accept, { secret = false } = {}) {
  const typed = h("input", { id: "answer", type: secret ? "password" : "text", autocomplete: "off" });
  const body = h("div", {}, h("label", { for: "answer" }, label), typed);
  return open(title, body, { accept, ready: () => typed.value.trim() !== "", value: () => typed.value.trim() });
}

export function tell(title, body) {
  return open(title, body, { accept: t("close"), asks: false });
}
