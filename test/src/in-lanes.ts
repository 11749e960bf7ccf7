/** Runs an action for each item, at most `count` at a time. */
export async function inLanes<Item>(
  count: number,
  items: readonly Item[],
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: count }, async () => {
      for (const item of waiting) await run(item);
    }),
  );
}
