// The page over the public API. Text is only ever set as text, so whatever was remembered can't become markup.
const $ = (id) => document.getElementById(id);
const PAGE = 50;
let offset = 0;

async function call(path, method = "GET", body) {
  const answer = await fetch(path, {
    method,
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error?.message ?? `the server answered ${answer.status}`);
  return data;
}

const say = (words) => { $("said").textContent = words; };
const attempt = (work) => work().catch((problem) => say(`That did not work: ${problem.message}`));

function show(memory) {
  const item = $("entry").content.firstElementChild.cloneNode(true);
  const facts = [memory.type ?? memory.kind, memory.theme, ...(memory.tags ?? []), new Date(memory.created_at).toLocaleString()];
  if (memory.relevance !== undefined) facts.push(`relevance ${memory.relevance.toFixed(2)}`);
  item.querySelector(".text").textContent = memory.text;
  item.querySelector(".facts").textContent = facts.filter(Boolean).join(" · ");
  item.classList.toggle("pinned", Boolean(memory.pinned));
  const [pin, forget] = item.querySelectorAll("button");
  if (memory.kind === "message") { pin.remove(); forget.remove(); return item; }
  pin.textContent = memory.pinned ? "Unpin" : "Pin";
  pin.onclick = () => attempt(async () => {
    const changed = await call(`/v1/memories/${encodeURIComponent(memory.id)}`, "PATCH", { pinned: !memory.pinned });
    item.replaceWith(show(changed));
  });
  forget.onclick = () => attempt(async () => {
    const receipt = await call(`/v1/memories/${encodeURIComponent(memory.id)}`, "DELETE");
    item.remove();
    say(`Forgotten for good: ${receipt.memories + receipt.derived} memory, ${receipt.vectors} vector, ${receipt.index_entries} index entry.`);
  });
  return item;
}

async function list(from = 0) {
  const page = await call(`/v1/memories?limit=${PAGE}&offset=${from}`);
  if (from === 0) $("list").replaceChildren();
  $("list").append(...page.items.map(show));
  offset = from + page.items.length;
  $("more").hidden = offset >= page.total;
  say(page.total ? `${page.total} remembered` : "Nothing is remembered yet. Tell it something above.");
}

async function search(query) {
  const found = await call("/v1/memories/search", "POST", { query, limit: 20 });
  if ($("query").value.trim() !== query) return; // a later search has overtaken this one
  $("list").replaceChildren(...found.hits.map(show));
  $("more").hidden = true;
  say(found.hits.length ? `${found.hits.length} found` : "Nothing matches.");
}

let waiting;
$("query").addEventListener("input", () => {
  clearTimeout(waiting);
  const query = $("query").value.trim();
  waiting = setTimeout(() => attempt(() => (query ? search(query) : list())), 150);
});
$("ask").addEventListener("submit", (event) => event.preventDefault());
$("tell").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const receipt = await call("/v1/memories", "POST", { text: $("text").value });
    $("text").value = "";
    $("query").value = "";
    await list();
    say(receipt.outcome === "refused" ? `Not remembered: ${receipt.reason}.` : `Remembered (${receipt.outcome}).`);
  });
});
$("more").onclick = () => attempt(() => list(offset));
attempt(list);
