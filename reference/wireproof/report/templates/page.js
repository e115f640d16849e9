"use strict";
// The matrix of the page: reads its data (matrix.py describes the keys), draws rows as they are scrolled to,
// filters them, and shows a case with its bytes. All data is set as text, never as markup.
const CHUNK = 60;
const SIGNS = { pass: "✓", info: "○", mild: "△", dim: "·", bad: "✗" };
const SHORT = { "not-round-trip": "round trip", "undeclared-skip": "skip", "adapter-error": "adapter" };
const $$ = (name) => document.getElementById(name);

function make(tag, more = {}, ...parts) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(more)) {
    if (key in made) made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...parts);
  return made;
}

async function unpacked() {
  const held = $$("data");
  if (held.type === "application/json") return JSON.parse(held.textContent);
  const stream = new Blob([raw(held.textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// --- what the numbers and names of the data mean ---

function opened(data) {
  for (const one of Object.values(data.cases)) one.rules = one.rules.map((id) => data.rules[id]);
  for (const row of data.rows) {
    for (const one of row.members) {
      one.about = data.cases[one.case];
      one.answers = one.answers.map((number) => data.answers[number]);
    }
  }
  return data;
}

function raw(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

function words(row) {
  const some = new Set([`${row.topic}/`, row.secure ? "security" : ""]);
  for (const one of row.members) {
    some.add(one.id);
    if (one.about) some.add(one.about.title).add(one.about.flags);
    for (const rule of one.about ? one.about.rules : []) some.add(rule[0]).add(rule[1]);
    for (const answer of one.answers) if (answer) some.add(answer.label).add(answer.cls).add(answer.known ? "known" : "");
  }
  return [...some].join(" ").toLowerCase();
}

function sign(answer) {
  const kind = answer.label.split(":");
  const name = kind[0] === "fail" ? kind[1] : kind[0];
  return SIGNS[answer.colour] + (answer.colour === "bad" ? ` ${SHORT[name] || name.replace("wrong-", "")}` : "");
}

function short(name) {
  return name.length > 26 ? `${name.slice(0, 25)}…` : name;
}

// --- bytes ---

// The fields of a case in one space, the outer ones first. The space of what byte 61 begins is "61>", that of the wire is "".
function fieldsOf(about, space) {
  const found = [], path = [];
  for (const [depth, at, size, name] of about.tree) {
    path.length = depth;
    path.push(name);
    const place = /^(.*>)?(\d+)$/.exec(at);
    if (place && (place[1] || "") === space && size > 0) found.push({ path: path.join("."), start: Number(place[2]), size });
  }
  return found;
}

// Which bytes differ from those of the twin, field by field: a longer field marks itself, and not all that follows it.
// Compressed bytes are compared where they are unpacked.
function differing(about, twin, part, other) {
  const own = raw(part.bytes), its = raw(other.bytes);
  const flags = Array.from(own, (value, at) => value !== its[at]);
  const theirs = new Map(fieldsOf(twin, other.space).map((field) => [field.path, field]));
  for (const { path, start, size } of fieldsOf(about, part.space)) {
    const field = theirs.get(path);
    if (!field) continue;
    for (let at = start; at < start + size; at += 1) flags[at] = field.size !== size || own[at] !== its[field.start + at - start];
  }
  about.regions.forEach((region, number) => {
    if (region.space === `${part.space}${region.start}>` && twin.regions[number]) flags.fill(false, region.start, region.end);
  });
  return (at) => flags[at];
}

function dump(bytes, size, start, end, differs) {
  const wide = matchMedia("(max-width: 44rem)").matches ? 8 : 16;
  const box = make("pre", { className: "bytes", tabIndex: 0 });
  for (let from = 0; from < bytes.length; from += wide) {
    box.append(make("span", { className: "dim" }, from.toString(16).padStart(4, "0")), " ");
    for (let at = from; at < Math.min(from + wide, bytes.length); at += 1) {
      const text = bytes[at].toString(16).padStart(2, "0");
      const marked = at >= start && at < end;
      box.append(" ", marked ? make("mark", {}, text) : differs(at) ? make("span", { className: "differs" }, text) : text);
    }
    box.append("\n");
  }
  if (size > bytes.length) box.append(`… ${size - bytes.length} more bytes`);
  if (!size) box.append("(no bytes)");
  return box;
}

function tree(one, line, choose) {
  const box = make("pre", { className: "tree", tabIndex: 0 });
  one.tree.forEach(([depth, place, size, name, type, value, cover], number) => {
    const head = `${place.padStart(8)} ${(size < 0 ? "" : String(size)).padStart(5)}  ${"  ".repeat(depth)}${name}`;
    const row = make("div", {}, [head, type, value, cover].filter(Boolean).join("  "));
    if (number === line) row.className = "here";
    const [, space, start] = /^(.*>)?(\d+)$/.exec(place) || [];
    if (start && size > 0) {
      row.tabIndex = 0;
      row.onclick = () => choose(Number(start), Number(start) + size, space || "");
      row.onkeydown = (event) => { if (event.key === "Enter") row.onclick(); };
    }
    box.append(row);
  });
  if (one.more) box.append(make("div", {}, "…"));
  return box;
}

function within(box, selector) {
  const found = box.querySelector(selector);
  if (found) box.scrollTop = Math.max(0, found.offsetTop - box.offsetTop - box.clientHeight / 2);
}

// --- a case ---

function facts(rows) {
  const list = make("dl");
  for (const [name, ...parts] of rows) {
    if (parts.some(Boolean)) list.append(make("dt", {}, name), make("dd", {}, ...parts));
  }
  return list;
}

function aboutCase(one) {
  const rules = one.rules.map(([id, text, practice, source, url]) => make("p", {}, make("code", {}, id), ` ${text} `,
    url ? make("a", { href: url, rel: "noreferrer" }, source) : make("span", { className: "dim" }, source),
    practice ? make("p", { className: "dim" }, `In practice: ${practice}`) : ""));
  const rows = [["title", one.title], ["why", one.why], ["want", one.want], ["rule", ...rules], ["level and profile", one.level],
    ["flags", one.flags], ["source", one.source], ["ran on", one.ran]];
  return facts(rows);
}

function copied(text) {
  const button = make("button", { type: "button" }, "copy");
  button.onclick = async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "copied"; } catch {
      getSelection().selectAllChildren(button.previousSibling);
      button.textContent = "selected";
    }
  };
  return make("div", { className: "replay" }, make("code", {}, text), button);
}

function answersOf(book, member, column, choose) {
  const body = make("tbody");
  member.answers.forEach((answer, number) => {
    if (!answer) return;
    const label = make("button", { type: "button", className: "id" }, answer.label);
    label.onclick = () => choose(number);
    const extra = answer.got.includes(answer.text) ? "" : answer.text;
    const text = [answer.known ? "known" : "", answer.cls, answer.path, answer.got, extra].filter((one) => one && one !== answer.label).join(" — ");
    body.append(make("tr", { className: number === column ? "asked" : "" },
      make("th", { scope: "row" }, book.columns[number].name), make("td", { className: `label ${answer.colour}` }, label), make("td", {}, text)));
  });
  return make("table", {}, body);
}

function partsOf(about) {
  return [{ space: "", bytes: about.bytes, size: about.size }, ...about.regions];
}

// The bytes of a case beside those of its twin: as they are on the wire, and each compressed part as it is unpacked.
function pairOf(about, twin, number, marked) {
  const pair = make("div", { className: "pair" }), part = partsOf(about)[number], other = twin && partsOf(twin)[number];
  const where = number ? `, unpacked from byte ${part.space.slice(0, -1)}` : "";
  const [start, end] = marked.space === part.space ? [marked.start, marked.end] : [-1, -1];
  const bytes = dump(raw(part.bytes), part.size, start, end, other ? differing(about, twin, part, other) : () => false);
  pair.append(make("div", {}, make("h3", {}, `bytes of ${about.id}${where}`), bytes));
  setTimeout(() => within(bytes, "mark"));
  if (other) {
    const right = dump(raw(other.bytes), other.size, -1, -1, differing(twin, about, other, part));
    pair.append(make("div", {}, make("h3", {}, `its accepted twin, ${twin.id}${where}`), right));
  }
  return pair;
}

function bytesOf(book, about, answer) {
  const box = make("div"), dumps = make("div"), twin = book.cases[about.twin];
  const draw = (start, end, space) => {
    dumps.replaceChildren(...partsOf(about).map((_, number) => pairOf(about, twin, number, { start, end, space })));
  };
  draw(answer ? answer.start : -1, answer ? answer.end : -1, answer ? answer.space : "");
  if (about.text) box.append(make("h3", {}, "value to encode"), make("pre", {}, about.text));
  if (about.size || !about.text) box.append(dumps);
  if (about.tree.length) {
    const fields = tree(about, answer ? answer.line : -1, draw);
    box.append(make("h3", {}, "fields: offset, size, name, type, value"), fields);
    setTimeout(() => within(fields, ".here"));
  }
  return box;
}

function drawCase(book, row, place, column) {
  const member = row.members[place];
  const asked = column >= 0 && member.answers[column] ? column : Math.max(0, member.answers.findIndex((one) => one && one.colour === "bad"));
  const answer = member.answers[asked] || member.answers.find(Boolean);
  const about = (answer && book.cases[answer.about]) || member.about;
  const parts = [];
  if (row.members.length > 1) {
    const list = make("select", { ariaLabel: "case of this row" });
    row.members.forEach((one, n) => list.append(make("option", { value: n, selected: n === place }, one.id)));
    list.onchange = () => drawCase(book, row, Number(list.value), column);
    parts.push(make("label", {}, `${row.members.length} cases with these results: `, list));
  }
  if (about) parts.push(aboutCase(about));
  if (answer && answer.replay) parts.push(make("h3", {}, `replay it on ${book.columns[asked].name}`), copied(answer.replay));
  if (about && (about.bytes !== undefined || about.text)) parts.push(bytesOf(book, about, answer));
  parts.push(make("h3", {}, "what the implementations made of it"),
    make("div", { className: "scroll" }, answersOf(book, member, asked, (number) => drawCase(book, row, place, number))));
  $$("name").textContent = about ? about.id : member.id;
  $$("detail").replaceChildren(...parts);
  $$("case").scrollTop = 0;
  history.replaceState(null, "", `#${encodeURI(member.id)}`);
}

// --- the matrix ---

function headOf(row, span) {
  return make("tr", { className: "head" }, make("th", { scope: "colgroup" }, row.topic), make("td", { colSpan: span }));
}

function titleOf(row) {
  const first = row.members[0].id;
  const name = first.startsWith(`${row.topic}/`) ? first.slice(row.topic.length + 1) : first;
  return row.members.length > 1 ? `${name} and ${row.members.length - 1} more with these results` : name;
}

function rowOf(row, number) {
  const head = make("th", { scope: "row" }, make("button", { type: "button", className: "id", "data-row": number }, titleOf(row)));
  if (row.secure) head.append(make("span", { className: "flag" }, "security"));
  const made = make("tr", { className: "row", "data-row": number }, head);
  row.members[0].answers.forEach((answer, column) => {
    const title = answer ? [answer.label, answer.cls, answer.known ? "known" : ""].filter(Boolean).join(" ") : "";
    const cell = answer ? make("td", { className: `${answer.colour}${answer.known ? " known" : ""}`, title }, sign(answer)) : make("td");
    cell.tabIndex = -1;
    cell.dataset.column = column;
    if (answer && row.members[0].count > 1) cell.append(make("span", { className: "dim" }, ` ×${row.members[0].count}`));
    made.append(cell);
  });
  return made;
}

class Matrix {
  constructor(book) {
    this.book = book;
    this.table = $$("matrix");
    this.texts = book.rows.map(words);
    this.found = [];
    this.drawn = 0;
    for (const column of book.columns) $$("heads").append(make("th", { scope: "col", title: `${column.name}: ${column.spec}` }, short(column.name)));
    const watch = new IntersectionObserver((some) => {
      if (!some.some((one) => one.isIntersecting)) return;
      this.draw();
      watch.unobserve($$("more")); // what stays in sight is extra once; looked at anew, it is extra again
      watch.observe($$("more"));
    }, { root: $$("more").parentElement, rootMargin: "800px" });
    watch.observe($$("more"));
  }

  hits(row, number, asked) {
    if (asked.secure && !row.secure) return false;
    if (!asked.families && row.members.every((one) => one.id.includes("~"))) return false;
    if (!asked.words.every((word) => this.texts[number].includes(word))) return false;
    const answers = row.members[0].answers;
    const some = asked.who === "" ? answers : [answers[Number(asked.who)]];
    if (asked.verdict === "apart") return new Set(answers.filter((one) => one && one.colour !== "dim").map((one) => one.label)).size > 1;
    if (asked.verdict === "new") return some.some((one) => one && one.colour === "bad" && !one.known);
    if (asked.verdict === "loud") return asked.who === "" ? !row.quiet : some.some((one) => one && one.colour === "bad");
    return some.some((one) => one && (!asked.verdict || one.label === asked.verdict || one.label.startsWith(`${asked.verdict}:`)));
  }

  apply() {
    const asked = {
      words: $$("filter").value.toLowerCase().split(/\s+/).filter(Boolean), who: $$("who").value,
      verdict: $$("verdict").value, secure: $$("secure").checked, families: $$("families").checked,
    };
    this.found = this.book.rows.map((_, n) => n).filter((n) => this.hits(this.book.rows[n], n, asked));
    this.table.querySelectorAll("tbody").forEach((body) => body.remove());
    this.drawn = 0;
    this.draw();
    const cases = this.found.reduce((sum, n) => sum + this.book.rows[n].members.length, 0);
    $$("shown").textContent = `${this.found.length} of ${this.book.rows.length} rows: ${cases} cases and families`;
  }

  draw() {
    const body = make("tbody");
    const until = Math.min(this.drawn + CHUNK, this.found.length);
    for (; this.drawn < until; this.drawn += 1) {
      const row = this.book.rows[this.found[this.drawn]], above = this.book.rows[this.found[this.drawn - 1]];
      if (!above || above.topic !== row.topic) body.append(headOf(row, this.book.columns.length));
      body.append(rowOf(row, this.found[this.drawn]));
    }
    this.table.append(body);
    $$("more").hidden = this.drawn >= this.found.length;
    $$("more").textContent = `${this.found.length - this.drawn} more rows`;
  }

  open(number, column = -1, place = 0) {
    this.at = number;
    drawCase(this.book, this.book.rows[number], place, column);
    if (!$$("case").open) $$("case").showModal();
  }

  step(by) {
    const next = this.found[this.found.indexOf(this.at) + by];
    if (next !== undefined) this.open(next);
  }

  named(id) {
    for (let number = 0; number < this.book.rows.length; number += 1) {
      const place = this.book.rows[number].members.findIndex((one) => one.id === id);
      if (place >= 0) return this.open(number, -1, place);
    }
  }
}

function moved(event) {
  const cell = event.target.closest("td, th"), row = cell && cell.closest("tr.row");
  const ways = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (!row || !(event.key in ways)) return;
  const [down, right] = ways[event.key], rows = [...document.querySelectorAll("#matrix tr.row")];
  const target = rows[rows.indexOf(row) + down], next = target && target.cells[cell.cellIndex + right];
  if (!next) return;
  event.preventDefault();
  (next.querySelector("button") || next).focus();
}

// A number of a heat map shows its cases: those of the topic that the implementation does not pass.
function narrowed(matrix, button) {
  $$("filter").value = `${button.dataset.words}/`;
  $$("who").value = button.dataset.who;
  $$("verdict").value = /^\d/.test(button.textContent) ? "loud" : "";
  $$("matrix-fold").open = true;
  matrix.apply();
  $$("all").scrollIntoView();
}

function listen(matrix) {
  const table = $$("matrix");
  const open = (event) => {
    const row = event.target.closest("tr.row"), cell = event.target.closest("td");
    if (row) matrix.open(Number(row.dataset.row), cell ? Number(cell.dataset.column) : -1);
  };
  table.addEventListener("click", open);
  table.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.tagName !== "TD") return moved(event);
    event.preventDefault(); // the key would go on to the button that has the focus by then, which closes the case
    open(event);
  });
  for (const name of ["filter", "who", "verdict", "secure", "families"]) $$(name).addEventListener("input", () => matrix.apply());
  document.querySelector("form.bar").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || $$("case").open || event.target.tagName === "INPUT") return;
    event.preventDefault();
    $$("matrix-fold").open = true;
    $$("filter").focus();
  });
  document.querySelectorAll("button[data-words]").forEach((button) => { button.onclick = () => narrowed(matrix, button); });
  $$("close").onclick = () => $$("case").close();
  $$("before").onclick = () => matrix.step(-1);
  $$("after").onclick = () => matrix.step(1);
  $$("case").addEventListener("click", (event) => { if (event.target === $$("case")) $$("case").close(); });
  $$("case").addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
  addEventListener("hashchange", () => followed(matrix));
  addEventListener("beforeprint", () => document.querySelectorAll("#about details").forEach((one) => { one.open = true; }));
}

// The part of the page or the case that the address names; what it is folded in opens.
function followed(matrix) {
  const name = decodeURIComponent(location.hash.slice(1)), part = name && document.getElementById(name);
  if (!part) return matrix.named(name);
  const fold = part.closest("details") || part.querySelector(":scope > details");
  if (fold) fold.open = true;
  part.scrollIntoView();
}

async function main() {
  const book = opened(await unpacked());
  const matrix = new Matrix(book);
  book.columns.forEach((column, n) => $$("who").append(make("option", { value: n }, column.name)));
  const labels = new Set(book.rows.flatMap((row) => row.members[0].answers.filter(Boolean).map((one) => one.label.replace(/^blocked:.*/, "blocked"))));
  for (const label of [...labels].sort()) $$("verdict").append(make("option", { value: label }, label));
  listen(matrix);
  matrix.apply();
  if (location.hash) followed(matrix);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

main().catch((error) => { $$("shown").textContent = `the data of this page cannot be read: ${error}`; });
