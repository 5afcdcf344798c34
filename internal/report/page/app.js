// Shows the data of a run. Everything that comes from the run is set as text, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");

// h makes an element: attributes, then children, which are elements or texts.
function h(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter((c) => c !== undefined && c !== null && c !== ""));
  return e;
}

const number = (n) => n.toLocaleString("en");
const count = (n, what) => number(n) + " " + what + (n === 1 ? "" : "s");

function section(id, title, ...children) {
  const link = h("a", { href: "#" + id }, title);
  document.getElementById("nav").append(link);
  const s = h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
  main.append(s);
  return s;
}

// A place in a source file, FILE:LINE:FUNCTION, as a link to where the page has it.
const files = new Map(data.files.map((f, i) => [f.path, i]));

function place(frame) {
  const m = /^(.*?):(\d+):?(.*)$/s.exec(frame);
  if (!m) return h("code", {}, frame);
  const at = files.get(m[1]);
  const name = at === undefined ? m[1] : data.files[at].name;
  const text = name + ":" + m[2] + (m[3] ? " in " + m[3] : "");
  if (at === undefined) return h("code", {}, text);
  return h("a", { href: "#source", class: "mono", onclick: (e) => { e.preventDefault(); showSource(at, +m[2]); } }, text);
}

function testLink(id) {
  return h("a", { href: "#tests", class: "mono", onclick: (e) => { e.preventDefault(); filter.value = id; listTests(); document.getElementById("tests").scrollIntoView(); filter.focus(); } }, id);
}

function copyable(text) {
  const said = h("span", { role: "status", class: "soft" });
  const b = h("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text); said.textContent = "copied"; }
    catch { getSelection().selectAllChildren(pre); said.textContent = "selected"; }
  } }, "Copy");
  const pre = h("pre", {}, text);
  return h("div", {}, pre, h("div", { class: "bar" }, b, said));
}

// The verdict.
const verdict = document.getElementById("verdict");
if (!data.finished) verdict.append(h("strong", { class: "doubt" }, "The run has not ended."));
else if (data.exhausted) verdict.append(h("strong", { class: "good" }, "exhausted"), data.not_compared ? ", in the machine: nothing was compared natively" : ": every input within the declared bounds behaves like one of these paths");
else verdict.append(h("strong", { class: "doubt" }, "not exhausted"), ": ", count(data.why.length, "reason"), ", ", h("a", { href: "#left" }, "see below"));

main.textContent = "";
const bad = data.findings.filter((f) => !f.refuted).length;
main.append(h("dl", { class: "facts" }, ...[
  ["Findings", number(bad) + (bad < data.findings.length ? " (+" + number(data.findings.length - bad) + " not confirmed)" : "")], ["Classes", number(data.classes.length)], ["Test cases", number(data.total)],
  ["High-level paths", number(data.paths.high)], ["Low-level paths", number(data.paths.low)], ["Waiting", number(data.paths.pending)],
  ["Replay agreed", number(data.replay.agreed)], ["Time", data.elapsed_s.toFixed(1) + " s"],
].map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v)))));

const cards = data.findings.map((f, i) => h("article", { id: "finding-" + i, tabindex: "-1", class: f.refuted ? "refuted" : undefined },
  h("h3", {}, f.outcome), f.refuted ? h("p", { class: "doubt" }, "Not confirmed: " + f.refuted) : undefined,
  h("pre", {}, f.inputs), f.values ? h("p", {}, "with ", h("code", {}, f.values)) : undefined,
  f.frames.length ? h("ol", { class: "frames" }, ...f.frames.map((x) => h("li", {}, place(x)))) : h("p", { class: "soft" }, "Where it happened is not told."),
  h("p", { class: "soft" }, testLink(f.test), f.tests > 1 ? ", " + number(f.tests - 1) + " more" : "", "; " + count(f.paths, "path")),
  copyable("symchef replay --test " + f.test + " " + data.dir)));
section("findings", "Findings", ...(cards.length ? cards : [h("p", { class: "good" }, "None.")]));

section("classes", "Classes of behaviour", h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Outcome"), h("th", { scope: "col" }, "Smallest input"), h("th", { scope: "col" }, "Test case"), h("th", { scope: "col", class: "n" }, "Paths"))),
  h("tbody", {}, ...data.classes.map((c) => h("tr", {}, h("td", {}, c.outcome), h("td", { class: "mono" }, c.inputs), h("td", {}, testLink(c.test)), h("td", { class: "n" }, number(c.paths)))))));

// Test cases: as many rows as are asked for.
const step = 200;
let shown = step;
const filter = h("input", { type: "search", id: "filter", placeholder: "outcome, input, verdict, name", oninput: () => { shown = step; listTests(); } });
const rows = h("tbody", {});
const howMany = h("span", { role: "status", class: "soft" });
const more = h("button", { type: "button", onclick: () => { shown += step; listTests(); } }, "Show more");

function listTests() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = data.tests.filter((t) => { const text = [t.id, t.outcome, t.inputs, t.verdict, t.why].join(" ").toLowerCase(); return words.every((w) => text.includes(w)); });
  rows.replaceChildren(...found.slice(0, shown).map((t) => h("tr", {}, h("td", { class: "mono" }, t.id), h("td", { class: t.failing ? "bad" : undefined }, t.outcome, t.returned ? h("div", { class: "soft mono" }, (t.failing ? "with " : "returned ") + t.returned) : undefined, ...(t.log || []).map((l) => h("div", { class: "soft mono" }, "log " + l))),
    h("td", { class: "mono" }, t.inputs), h("td", { class: t.verdict === "agreed" ? "good" : t.verdict ? "doubt" : "soft" }, t.verdict || "not replayed", t.why ? h("div", { class: "soft" }, t.why) : undefined), h("td", { class: "n" }, t.found_at_s.toFixed(1) + " s"))));
  howMany.textContent = number(Math.min(shown, found.length)) + " of " + count(found.length, "test case") + (data.total > data.tests.length ? "; the page has the first " + number(data.tests.length) + " of " + number(data.total) : "");
  more.hidden = found.length <= shown;
}
section("tests", "Test cases", h("div", { class: "bar" }, h("label", { for: "filter" }, "Filter"), filter, howMany),
  h("table", {}, h("thead", {}, h("tr", {}, ...["Name", "Outcome", "Inputs", "Replay"].map((t) => h("th", { scope: "col" }, t)), h("th", { scope: "col", class: "n" }, "Found"))), rows), more);
listTests();

// Source: one file at a time.
const pick = h("select", { id: "file", onchange: () => showSource(+pick.value, 0, false) }, ...data.files.map((f, i) => h("option", { value: i }, f.name + " (" + f.covered.length + " of " + f.lines.length + " lines)")));
const code = h("div", { class: "code", tabindex: "0", role: "region", "aria-label": "Lines of the file" });
let current = -1;

function showSource(i, line, scroll = true) {
  const f = data.files[i];
  if (current !== i) {
    current = i;
    pick.value = i;
    const covered = new Set(f.covered), marks = new Map(f.marks.map((m) => [m.line, m.finding])), ways = new Map(f.branches.map((b) => [b.Line, b.Ways]));
    code.replaceChildren(f.missing ? h("p", {}, f.missing) : h("table", {}, h("thead", { class: "soft" }, h("tr", {}, h("th", { scope: "col", class: "n" }, "Line"), h("th", { scope: "col" }, "Run"), h("th", { scope: "col" }, "Source"), h("th", { scope: "col" }, "Paths part"))),
      h("tbody", {}, ...f.lines.map((text, k) => {
        const n = k + 1, m = marks.get(n);
        return h("tr", { id: "line-" + n, class: m !== undefined ? "mark" : covered.has(n) ? "hit" : undefined }, h("td", { class: "n" }, String(n)), h("td", {}, covered.has(n) ? "run" : ""), h("td", { class: "src" }, text),
          h("td", { class: "soft" }, (ways.get(n) || []).map((w) => w.Way + " " + number(w.Low)).join(", "), m !== undefined ? h("a", { href: "#finding-" + m }, " finding " + (m + 1)) : undefined));
      }))));
  }
  code.querySelectorAll("tr.here").forEach((r) => r.classList.remove("here"));
  const row = line ? document.getElementById("line-" + line) : undefined;
  if (row) row.classList.add("here");
  if (!scroll) return;
  document.getElementById("source").scrollIntoView();
  if (row) code.scrollTop = row.offsetTop - code.clientHeight / 2;
  code.focus({ preventScroll: true });
}
section("source", "Source", ...(data.files.length ? [data.changed ? h("p", { class: "doubt" }, "The files are shown as they are now: " + data.changed) : undefined, h("div", { class: "bar" }, h("label", { for: "file" }, "File"), pick), code].filter(Boolean) : [h("p", {}, "No source line is known.")]));
if (data.files.length) showSource(0, 0, false);

// The tree: only the rows in sight are elements. An item is a node, or an end of one.
if (data.tree.length) {
  const kids = data.tree.map(() => []);
  data.tree.forEach((n, i) => { if (n.p >= 0) kids[n.p].push(i); });
  const depth = new Int32Array(data.tree.length);
  data.tree.forEach((n, i) => { depth[i] = n.p < 0 ? 0 : depth[n.p] + 1; });
  const open = new Uint8Array(data.tree.length);
  for (let i = 0; i < open.length; i++) open[i] = depth[i] < 12 && data.tree.length < 2000 || depth[i] < 3 ? 1 : 0;
  let items = [], at = 0;
  const inner = h("div", { role: "presentation" });
  const box = h("div", { class: "tree", role: "tree", tabindex: "0", "aria-label": "Tree of paths", onscroll: () => draw(), onkeydown: key, onclick: click }, inner);

  function flatten() {
    items = [];
    const stack = [];
    for (let i = data.tree.length - 1; i >= 0; i--) if (data.tree[i].p < 0) stack.push({ node: i, end: -1, depth: 0, pos: 1, size: 1 });
    while (stack.length) {
      const item = stack.pop();
      items.push(item);
      if (item.end >= 0 || !open[item.node]) continue;
      const n = data.tree[item.node], ends = n.e || [], size = ends.length + kids[item.node].length;
      for (let k = kids[item.node].length - 1; k >= 0; k--) stack.push({ node: kids[item.node][k], end: -1, depth: item.depth + 1, pos: ends.length + k + 1, size });
      for (let k = ends.length - 1; k >= 0; k--) stack.push({ node: item.node, end: k, depth: item.depth + 1, pos: k + 1, size });
    }
    inner.style.height = items.length * 22 + "px";
    at = Math.min(at, items.length - 1);
    draw();
  }

  const leaf = (item) => item.end >= 0 || (kids[item.node].length === 0 && !(data.tree[item.node].e || []).length);

  function draw() {
    const first = Math.max(0, Math.floor(box.scrollTop / 22) - 10), last = Math.min(items.length, Math.ceil((box.scrollTop + box.clientHeight) / 22) + 10);
    const list = [];
    for (let i = first; i < last; i++) {
      const item = items[i], n = data.tree[item.node];
      const e = item.end >= 0 ? n.e[item.end] : undefined;
      const text = e ? e.o + "  (" + count(e.n, "low-level path") + (e.t ? ": " + e.t.slice(0, 4).join(", ") + (e.t.length > 4 ? ", ..." : "") : "") + ")" : n.t;
      const row = h("div", { id: "item-" + i, class: "row" + (i === at ? " on" : "") + (e && e.o !== "ok" && !e.o.startsWith("expected") && !e.o.startsWith("exit 0") ? " bad" : ""), role: "treeitem", "aria-level": item.depth + 1, "aria-posinset": item.pos, "aria-setsize": item.size, "aria-selected": i === at ? "true" : "false", "aria-expanded": leaf(item) ? undefined : open[item.node] ? "true" : "false" },
        (leaf(item) ? "  " : open[item.node] ? "\u25be " : "\u25b8 ") + text);
      row.style.top = i * 22 + "px";
      row.style.paddingLeft = item.depth * 16 + 6 + "px";
      row.dataset.item = i;
      list.push(row);
    }
    inner.replaceChildren(...list);
    box.setAttribute("aria-activedescendant", "item-" + at);
  }

  function go(i) {
    at = Math.max(0, Math.min(items.length - 1, i));
    const top = at * 22;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + 22 > box.scrollTop + box.clientHeight) box.scrollTop = top + 22 - box.clientHeight;
    draw();
  }

  function toggle(want) {
    const item = items[at];
    if (leaf(item) || want === open[item.node]) return false;
    open[item.node] = want;
    flatten();
    return true;
  }

  function lead() { // to the line where the node branches, or the test case of an end
    const item = items[at], n = data.tree[item.node];
    if (item.end >= 0 && n.e[item.end].t) { filter.value = n.e[item.end].t[0]; listTests(); document.getElementById("tests").scrollIntoView(); }
    else if (n.f && files.has(n.f)) showSource(files.get(n.f), n.l);
  }

  function key(e) {
    const page = Math.floor(box.clientHeight / 22) - 1;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length };
    if (e.key in moves) go(at + moves[e.key]);
    else if (e.key === "ArrowRight") { if (!toggle(1)) go(at + 1); }
    else if (e.key === "ArrowLeft") {
      if (items[at].end >= 0 || !toggle(0)) { let i = at; while (i > 0 && items[i].depth >= items[at].depth) i--; go(i); }
    } else if (e.key === " ") { if (!leaf(items[at])) toggle(open[items[at].node] ? 0 : 1); }
    else if (e.key === "Enter") lead();
    else return;
    e.preventDefault();
  }

  function click(e) {
    const row = e.target.closest(".row");
    if (!row) return;
    at = +row.dataset.item;
    const item = items[at];
    if (leaf(item)) { draw(); lead(); } else toggle(open[item.node] ? 0 : 1);
  }

  const all = (v) => () => { for (let i = 0; i < open.length; i++) open[i] = v || (depth[i] < 1 ? 1 : 0); flatten(); };
  section("tree", "Tree of paths", h("div", { class: "bar" }, h("button", { type: "button", onclick: all(1) }, "Unfold all"), h("button", { type: "button", onclick: all(0) }, "Fold all"), h("span", { class: "soft" }, count(data.tree.length, "node") + (data.tree_cut ? ", " + number(data.tree_cut) + " more are not on this page (symchef tree)" : ""))), box);
  flatten();
}

// What was found when.
function chart(samples) {
  const w = 640, height = 160, left = 60, low = height - 24, x = samples[samples.length - 1].instructions || 1, y = Math.max(1, ...samples.map((s) => s.low));
  const ns = "http://www.w3.org/2000/svg";
  const make = (name, attributes, text) => { const e = document.createElementNS(ns, name); for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v); if (text) e.textContent = text; return e; };
  const svg = make("svg", { viewBox: "0 0 " + w + " " + height, role: "img", "aria-label": "Paths over instructions: " + number(samples[samples.length - 1].high) + " high-level and " + number(y) + " low-level paths after " + number(x) + " instructions" });
  const line = (of) => samples.map((s) => (left + s.instructions / x * (w - left - 12)).toFixed(1) + "," + (low - of(s) / y * (low - 14)).toFixed(1)).join(" ");
  const draw = (of, colour, dash) => svg.append(make("polyline", { points: left + "," + low + " " + line(of), fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash }));
  draw((s) => s.low, "currentColor", "5 4");
  draw((s) => s.high, "#2f8f4e", "none");
  for (const [tx, ty, text, anchor] of [[left - 6, 18, number(y), "end"], [left - 6, low, "0", "end"], [w - 12, height - 6, number(x) + " instructions", "end"], [left, height - 6, "dashed: low-level, solid: high-level paths", "start"]])
    svg.append(make("text", { x: tx, y: ty, "text-anchor": anchor, "font-size": 11, fill: "currentColor" }, text));
  return svg;
}
if (data.progress.length > 1) section("time", "Over time", chart(data.progress));

section("left", "What was not explored", ...(data.why.length ? [h("ul", {}, ...data.why.map((w) => h("li", {}, w)))] : [h("p", { class: "good" }, "Nothing is left.")]),
  ...(data.without.length ? [h("p", {}, "Explored without, which is as sound and as complete, and harder:"), h("ul", {}, ...data.without.map((w) => h("li", {}, h("code", {}, w.name), ": " + w.why)))] : []));

section("run", "The run", h("table", {}, h("tbody", {}, ...[
  ["Interpreter", data.interpreter.path + " " + data.interpreter.version], ["Processor in the machine", data.cpu], ["Strategy", data.strategy], ["Instructions", number(data.instructions)],
  ["Infeasible", number(data.paths.infeasible)], ["Pruned", number(data.paths.pruned)], ["Solver queries", number(data.solver.queries) + ", " + data.solver.time_s.toFixed(1) + " s"], ["Memory at most", (data.memory_peak_bytes / (1 << 20)).toFixed(0) + " MiB"],
].map(([k, v]) => h("tr", {}, h("th", { scope: "row" }, k), h("td", { class: "mono" }, v))))));

// Keys.
let finding = -1;
document.addEventListener("keydown", (e) => {
  const typing = e.target.closest("input, select, textarea, .tree");
  if (e.key === "Escape" && e.target === filter) { filter.value = ""; listTests(); filter.blur(); return; }
  if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/") { e.preventDefault(); document.getElementById("tests").scrollIntoView(); filter.focus(); }
  else if ((e.key === "j" || e.key === "k") && cards.length) {
    finding = Math.max(0, Math.min(cards.length - 1, finding + (e.key === "j" ? 1 : -1)));
    cards[finding].scrollIntoView();
    cards[finding].focus({ preventScroll: true });
  }
});
document.documentElement.dataset.ready = "true";
