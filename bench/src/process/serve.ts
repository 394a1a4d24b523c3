/** The other end of a LineProcess, for those that run in Node. */
import { createInterface } from 'node:readline';

export function answer(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Answers orders one after the other, until the input ends; then the process does. */
export async function serveOrders<Order>(carryOut: (order: Order) => Promise<object> | object): Promise<never> {
  for await (const line of createInterface({ input: process.stdin })) answer(await carryOut(JSON.parse(line) as Order));
  process.exit();
}
