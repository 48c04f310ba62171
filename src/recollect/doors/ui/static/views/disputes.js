// Pairs that may not both be true: the person decides.
import { get, id, post } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { attempt, tell, warn } from "../lib/notices.js";
import { state } from "../lib/state.js";
import { ago, t } from "../lib/words.js";

export function disputes(changed) {
  const place = h("div", { class: "disputes" });
  if (state.readOnly || state.incognito) return { element: place, load: () => {} };
  /** One is asked about; the others wait behind a line, so that what is remembered stays in sight. */
  const load = () => get("/v1/memories/conflicts?limit=20").then(({ conflicts: [first, ...others] }) => {
    fill(place, first ? card(first) : null, others.length ? h("details", {}, h("summary", {}, t("disputes.count", { count: others.length })), others.map(card)) : null);
  }).catch(warn);

  function card({ later, earlier }) {
    const decide = (keep) => attempt(async () => {
      await post(`/v1/memories/${id(later.id)}/resolve`, { keep });
      tell(t("settled"));
      await load();
      changed();
    });
    const side = (memory) => h("div", { class: "row spread" }, h("p", {}, memory.text, h("span", { class: "facts" }, ` · ${ago(memory.created_at)}`)), h("button", { onclick: () => decide(memory.id) }, t("this.is.true")));
    return h("section", { class: "card" }, h("div", { class: "row spread" }, h("h3", {}, t("which.is.true")), h("button", { class: "quiet", onclick: () => decide("both") }, t("both.are.true"))),
      h("div", { class: "columns" }, side(later), side(earlier)));
  }

  load();
  return { element: place, load };
}
