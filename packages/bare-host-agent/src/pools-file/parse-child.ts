// Runs as a separate process: parses the text that it receives, sends back the result, and ends.
import type { ParseTask } from './load-pools-file.js';
import { parsePoolsFile } from './parse-pools-file.js';

process.once('message', ({ text, resolved }: ParseTask) => {
  process.send?.(parsePoolsFile(text, resolved), () => process.disconnect());
});
