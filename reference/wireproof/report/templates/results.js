"use strict";
// Adds a field above each table that hides the rows without its words: a name, a language, a word of a finding.
const LEAST = 8;

function filtered(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < LEAST) return;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = `filter ${rows.length} rows: a name, a language`;
  field.setAttribute("aria-label", "filter the rows of this table");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  table.before(field);
}

document.querySelectorAll("table.results").forEach(filtered);
