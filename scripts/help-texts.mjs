// The help of each task that has options, as its program prints it. Tasks without such a program have it in the comment at their top.
import { spawnSync } from 'node:child_process';

const BENCHES = ['packets', 'leases', 'control', 'agents', 'hosts'];
/** By the name of a task, or of a command of it. */
const PROGRAMS = {
  demo: ['tools/demo/dist/main.js'],
  world: ['tools/world/dist/main.js'],
  bench: ['scripts/tasks/bench.mjs'],
  ...Object.fromEntries(BENCHES.map((name) => [`bench-${name}`, [`tools/bench/dist/${name}.js`]])),
  images: ['scripts/tasks/images.mjs'],
  'images-build': ['scripts/tasks/images.mjs', 'build'],
  'images-rootfs': ['scripts/tasks/images.mjs', 'rootfs'],
  'images-update-debian': ['scripts/tasks/images.mjs', 'update-debian'],
};

/** By path. */
export function helpTexts() {
  return Object.entries(PROGRAMS).map(([name, words]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...words, '--help'], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return [`scripts/help/${name}.txt`, `${stdout.trimEnd()}\n`];
  });
}
