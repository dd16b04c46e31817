/** Saved before a test can replace it. */
const { setImmediate: afterPromises } = globalThis;

/** This many steps share a turn of the event loop, because each turn costs system calls. */
const STEPS_IN_TURN = 32;

/** Waits for chains of promises that need no timer, however long they are. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => afterPromises(resolve));
}

/** Repeats a step until it returns false. Promises have settled before each step, and at the end: Node does that between immediates. Real timers and I/O may wait. */
export function repeatWithPromises(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const run = (number: number) => {
      if (isOver) return;
      try {
        isOver = !step();
      } catch (error) {
        isOver = true;
        reject(error);
      }
      if (isOver) resolve();
      else if (number === STEPS_IN_TURN) runTurn();
    };
    const runTurn = () => {
      for (let number = 1; number <= STEPS_IN_TURN; number++) afterPromises(run, number);
    };
    runTurn();
  });
}
