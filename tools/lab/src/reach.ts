import type { Machine } from './lab.js';

const TIMEOUT_MS = 800;

/** `open`: the port accepts connections; `refused`: something answers there, and has no such port; `silent`: no answer. */
export type Reach = 'open' | 'refused' | 'silent';

/** What a machine finds when it opens a TCP connection. */
export async function reach(machine: Machine, address: string, port: number): Promise<Reach> {
  const script = `const s = require('node:net').connect(${port}, '${address}');
const end = (word) => { console.log('reach ' + word); process.exit(0); };
s.on('connect', () => end('open'));
s.on('error', (e) => end(e.code === 'ECONNREFUSED' ? 'refused' : 'silent'));
setTimeout(() => end('silent'), ${TIMEOUT_MS});`;
  const started = machine.start(process.execPath, ['-e', script]);
  const line = await started.line('reach ');
  return line.split(' ')[1] as Reach;
}
