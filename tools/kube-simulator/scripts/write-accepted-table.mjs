// Writes the table of accepted differences into the README.
import { readFileSync, writeFileSync } from 'node:fs';
import { readAcceptedDifferences } from '../dist/recordings/accepted-differences.js';
import { withAcceptedTable } from '../dist/recordings/accepted-table.js';

const readme = new URL('../README.md', import.meta.url);
const accepted = readAcceptedDifferences(new URL('../accepted-differences.json', import.meta.url));
writeFileSync(readme, withAcceptedTable(readFileSync(readme, 'utf8'), accepted));
