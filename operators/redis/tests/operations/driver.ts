/** What an operation case may do with the servers, whether they are real or modelled. */
import assert from 'node:assert/strict';
import { slotOfKey } from '@reeve/simulation/redis';
import type { Arg, Reply } from '../../src/api/port.ts';

export type Product = 'valkey' | 'redis';

/**
 * What a case finds.
 * - `fresh`: two servers that know nobody, without slots, keys or epochs (`a`, `b`);
 * - `cluster`: three primaries `a` `b` `c` with even shares, `replica` of `a`, and `spare`, a primary without slots.
 *   Cases share it, one after the other: each leaves it as it found it;
 * - `own`: the same, for one case alone, which may break it. Data survive a kill.
 */
export type Shape = 'fresh' | 'cluster' | 'own';

/** Where it is now: a restart elsewhere changes it. */
export interface Node {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly busPort: number;
}

/** One connection. */
export interface Line {
  call(...args: (Arg | number)[]): Promise<Reply>;
  /** Bulk strings as Buffers. */
  binary(...args: (Arg | number)[]): Promise<Reply>;
}

export interface Driver {
  readonly product: Product;
  readonly nodes: Readonly<Record<'a' | 'b' | 'c' | 'replica' | 'spare', Node>>;
  /** A new connection to a node. */
  connect(node: Node): Promise<Line>;
  call(node: Node, ...args: (Arg | number)[]): Promise<Reply>;
  /** MULTI, the commands, EXEC on one connection; each reply or error of the commands inside. */
  exec(node: Node, commands: readonly (readonly (Arg | number)[])[]): Promise<readonly (Reply | Error)[]>;
  /** Until it holds; fails after the deadline. */
  wait(what: string, condition: () => Promise<boolean>): Promise<void>;
  kill(node: Node): Promise<void>;
  /** With its folder, at the same port or at another one. */
  restart(node: Node, where?: 'elsewhere'): Promise<void>;
  pause(node: Node): void;
  resume(node: Node): void;
}

export interface OperationCase {
  readonly name: string;
  readonly shape: Shape;
  /** When only one product behaves so (or has the command). */
  readonly only?: Product;
  run(driver: Driver): Promise<void>;
}

export function operation(shape: Shape, name: string, run: OperationCase['run'], only?: Product): OperationCase {
  return { shape, name, run, ...(only ? { only } : {}) };
}

/** The command is refused with exactly these words (or by product). */
export async function refused(
  driver: Driver,
  node: Node,
  args: readonly (Arg | number)[],
  expected: string | RegExp | Readonly<Record<Product, string | RegExp>>,
): Promise<void> {
  await refusedOn({ call: (...words) => driver.call(node, ...words) }, args, pick(driver, expected));
}

export async function refusedOn(
  line: Pick<Line, 'call'>,
  args: readonly (Arg | number)[],
  expected: string | RegExp,
): Promise<void> {
  let reply: Reply;
  try {
    reply = await line.call(...args);
  } catch (error) {
    const { message } = error as Error;
    if (typeof expected === 'string') assert.equal(message, expected, `refusal of ${args.join(' ')}`);
    else assert.match(message, expected, `refusal of ${args.join(' ')}`);
    return;
  }
  assert.fail(`${args.join(' ')} was not refused but answered ${JSON.stringify(reply)}`);
}

function pick<T extends string | RegExp>(driver: Driver, value: T | Readonly<Record<Product, T>>): T {
  return typeof value === 'string' || value instanceof RegExp ? value : (value as Record<Product, T>)[driver.product];
}

export interface NodesLine {
  readonly id: string;
  readonly address: string;
  readonly flags: readonly string[];
  readonly primary: string;
  readonly epoch: number;
  readonly link: string;
  readonly slots: readonly string[];
  readonly open: readonly string[];
}

export async function table(driver: Driver, node: Node): Promise<NodesLine[]> {
  const text = String(await driver.call(node, 'CLUSTER', 'NODES'));
  return text
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => {
      const [id = '', address = '', flags = '', primary = '', , , epoch = '', link = '', ...slots] = row.split(' ');
      return {
        id,
        address,
        flags: flags.split(','),
        primary,
        epoch: Number(epoch),
        link,
        slots: slots.filter((slot) => !slot.startsWith('[')),
        open: slots.filter((slot) => slot.startsWith('[')),
      };
    });
}

export async function ownLine(driver: Driver, node: Node): Promise<NodesLine> {
  const line = (await table(driver, node)).find(({ flags }) => flags.includes('myself'));
  assert.ok(line, `${node.name} has a line about itself`);
  return line;
}

/** A server drops an order to take over that was not carried out within 5 s, and says nothing. */
const DROPPED_AFTER_MS = 6_000;

/** CLUSTER FAILOVER until the node is a primary: asked again when it must have been dropped. */
export async function failOver(driver: Driver, node: Node, ...mode: readonly string[]): Promise<void> {
  let askedAt = Number.NEGATIVE_INFINITY;
  await driver.wait(`${node.name} is a primary`, async () => {
    if ((await ownLine(driver, node)).flags.includes('master')) return true;
    if (performance.now() - askedAt < DROPPED_AFTER_MS) return false;
    askedAt = performance.now();
    assert.equal(await driver.call(node, 'CLUSTER', 'FAILOVER', ...mode), 'OK');
    return false;
  });
}

export async function idOf(driver: Driver, node: Node): Promise<string> {
  return String(await driver.call(node, 'CLUSTER', 'MYID'));
}

/** `name:value` lines. */
export async function fields(driver: Driver, node: Node, ...args: string[]): Promise<Record<string, string>> {
  const text = String(await driver.call(node, ...args));
  return Object.fromEntries(
    text
      .split(/\r?\n/)
      .filter((row) => row.includes(':'))
      .map((row) => [row.slice(0, row.indexOf(':')), row.slice(row.indexOf(':') + 1)]),
  );
}

/** Who owns a slot in a node's view: its id, or undefined. */
export async function ownerIn(driver: Driver, node: Node, slot: number): Promise<string | undefined> {
  return (await table(driver, node)).find(({ slots }) =>
    slots.some((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return slot >= first && slot <= last;
    }),
  )?.id;
}

/** Every node of the cluster says that `owner` has the slot. */
export async function waitForOwner(driver: Driver, slot: number, owner: string): Promise<void> {
  await driver.wait(`all agree that ${owner} owns ${slot}`, async () => {
    for (const node of Object.values(driver.nodes)) {
      if ((await ownerIn(driver, node, slot)) !== owner) return false;
    }
    return true;
  });
}

/** Keys of a slot: `{tag}0`, `{tag}1` … */
export function keysIn(slot: number, count: number): string[] {
  for (let at = 0; ; at++) {
    const tag = at.toString(36);
    if (slotOfKey(tag) === slot) return Array.from({ length: count }, (_, index) => `{${tag}}${index}`);
  }
}

export function keyIn(slot: number): string {
  return keysIn(slot, 1)[0] as string;
}

/** MIGRATE of keys to a node, with a time limit that no test reaches. */
export function migrateArgs(to: Node, keys: readonly string[], ...options: string[]): (string | number)[] {
  return ['MIGRATE', to.host, to.port, '', 0, 5000, ...options, 'KEYS', ...keys];
}

/** Opens a slot on both sides, as every tool does it. */
export async function open(driver: Driver, slot: number, source: Node, target: Node): Promise<void> {
  await driver.call(target, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(driver, source));
  await driver.call(source, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(driver, target));
}

export async function close(driver: Driver, slot: number, ...nodes: readonly Node[]): Promise<void> {
  for (const node of nodes) await driver.call(node, 'CLUSTER', 'SETSLOT', slot, 'STABLE');
}

/** Moves a slot by the book, back where it belongs after a test. */
export async function moveSlot(driver: Driver, slot: number, source: Node, target: Node): Promise<void> {
  const id = await idOf(driver, target);
  await open(driver, slot, source, target);
  const keys = (await driver.call(source, 'CLUSTER', 'GETKEYSINSLOT', slot, 1000)) as string[];
  if (keys.length > 0) await driver.call(source, ...migrateArgs(target, keys));
  await driver.call(target, 'CLUSTER', 'SETSLOT', slot, 'NODE', id);
  await driver.call(source, 'CLUSTER', 'SETSLOT', slot, 'NODE', id);
  await waitForOwner(driver, slot, id);
}
