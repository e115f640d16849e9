"use strict";
// ROWS comes from search-index.js: [kind, name, title, page]. Every word must occur; names count before titles.
const LIMIT = 100;
const input = document.getElementById("words");
const list = document.getElementById("found");
const count = document.getElementById("count");
const texts = ROWS.map((row) => row.slice(0, 3).join(" ").toLowerCase());

function ranked(words) {
  const found = [];
  texts.forEach((text, number) => {
    if (words.every((word) => text.includes(word))) {
      const name = ROWS[number][1].toLowerCase();
      found.push([words.some((word) => name.startsWith(word)) ? 0 : 1, number]);
    }
  });
  return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((row) => ROWS[row[1]]);
}

function item([kind, name, title, page]) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = page;
  link.textContent = name;
  line.append(`${kind} `, link, title ? ` ${title}` : "");
  return line;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? ranked(words) : [];
  list.replaceChildren(...found.slice(0, LIMIT).map(item));
  if (words.length) {
    count.textContent = found.length > LIMIT ? `${found.length} found, the first ${LIMIT} are shown` : `${found.length} found`;
  }
  history.replaceState(null, "", words.length ? `#${encodeURIComponent(input.value)}` : location.pathname);
}

// The field of another page sends `?q=`; a link to a search has the words behind `#`.
input.value = new URLSearchParams(location.search).get("q") ?? decodeURIComponent(location.hash.slice(1));
input.addEventListener("input", show);
if (input.value) show();
