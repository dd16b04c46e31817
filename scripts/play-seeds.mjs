// A worker of `npm run test:seeds`: plays runs by their numbers, from the TypeScript sources of the tests.
import { registerHooks } from 'node:module';
import { parentPort } from 'node:worker_threads';

// The sources import each other as `./name.js`, as they are called once they are built; the stories of tests are never built.
registerHooks({
  resolve: (specifier, context, next) => {
    const isSource = context.parentURL?.endsWith('.ts') === true && /^\.{1,2}\//.test(specifier);
    return next(isSource ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
});

const STORIES = '../packages/reconciler/src/controller';
const { playCrashStory } = await import(`${STORIES}/crash-story-fixtures.ts`);
const { playRandomStory } = await import(`${STORIES}/random-story-fixtures.ts`);

/** Even runs are crash stories, odd ones random stories; each kind has its seeds from 0. */
async function play(run) {
  const seed = Math.floor(run / 2);
  try {
    return run % 2 === 0 ? await playCrashStory(seed) : await playRandomStory(seed);
  } catch (error) {
    return [{ kind: 'other', message: `seed ${seed}: ${error.stack}` }];
  }
}

async function playAll({ first, end }) {
  const faults = [];
  for (let run = first; run < end; run++) {
    for (const fault of await play(run)) faults.push({ run, ...fault });
  }
  parentPort.postMessage({ count: end - first, faults });
}

parentPort.on('message', (block) => void playAll(block));
