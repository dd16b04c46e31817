/** Maps all items and returns the results in the order of the items; at most `most` run at once. */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  most: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}
