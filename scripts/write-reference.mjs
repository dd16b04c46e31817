// Writes docs/reference from the built packages. scripts/check-docs.mjs fails when a page is not what this would write.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { referencePages } from './reference/pages.mjs';

for (const [path, text] of referencePages) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
