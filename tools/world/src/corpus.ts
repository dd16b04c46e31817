/**
 * Stories that once broke a law, each with what was wrong. A seed plays another story when acts are added: then look for one that breaks the law without
 * the fix, or leave it to the unit test beside the fix.
 */
export const CORPUS: ReadonlyMap<number, string> = new Map([
  [102, 'a controller died between its writes, its pool was deleted and created again: an address in use had two owners'],
  [
    5004,
    'a machine was leaving a network whose pool was created again: its address there was given to another one before it had moved',
  ],
  [770211625, 'a machine that left a full network got no address on its new one for an hour'],
]);
