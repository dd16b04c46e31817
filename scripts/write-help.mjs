// What `npm run TASK -- --help` prints before anything is installed.
import { writeFileSync } from 'node:fs';
import { helpTexts } from './help-texts.mjs';

for (const [path, text] of helpTexts()) writeFileSync(path, text);
