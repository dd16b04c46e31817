// Markdown for generated pages.

/** `text` as code. */
export function code(text) {
  return `\`${text}\``;
}

/** A table; cells are Markdown. */
export function table(header, rows) {
  const lines = [header, header.map(() => '---'), ...rows.map((row) => row.map((cell) => String(cell).replaceAll('|', '\\|')))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
