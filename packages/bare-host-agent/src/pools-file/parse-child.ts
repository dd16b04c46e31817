// A process of its own: parses what it is sent, sends back what that holds, and ends.
import type { ParseTask } from './load-pools-file.js';
import { parsePoolsFile } from './parse-pools-file.js';

process.once('message', ({ text, resolved }: ParseTask) => {
  process.send?.(parsePoolsFile(text, resolved), () => process.disconnect());
});
