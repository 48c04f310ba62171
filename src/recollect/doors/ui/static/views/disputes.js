// Pairs that may not both be true: the person decides.
import { get, id, post } from "../lib/api.js";
import { fill, h } from "../lib/dom.js";
import { attempt, tell, warn } from "../lib/notices.js";
import { state } from "../lib/state.js";
import { ago, t } from "../lib/words.js";

export function disputes(changed) {
  const place = h("div", { class: "disputes" });
  if (state.readOnly || state.incognito) return place;
  const load = () => get("/v1/memories/conflicts?limit=20").then(({ conflicts }) => {
    fill(place, ...conflicts.map((pair) => card(pair)));
  }).catch(warn);

  function card({ later, earlier }) {
    const decide = (keep) => attempt(async () => {
      await post(`/v1/memories/${id(later.id)}/resolve`, { keep });
      tell(t("settled"));
      await load();
      changed();
    });
    const side = (memory) => h("div", {}, h("p", {}, memory.text), h("p", { class: "facts" }, ago(memory.created_at)), h("button", { onclick: () => decide(memory.id) }, t("this.is.true")));
    return h("section", { class: "card" }, h("h3", {}, t("which.is.true")), h("div", { class: "columns" }, side(later), side(earlier)), h("button", { class: "quiet", onclick: () => decide("both") }, t("both.are.true")));
  }

  load();
  return place;
}
