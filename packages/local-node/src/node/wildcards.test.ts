import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryMachine } from '../host/memory-host-testing.ts';
import type { Listener } from '../host/listeners.ts';
import { Runs } from '../shim/runs.ts';
import type { PodKeeper } from './pod-keeper.ts';
import { Wildcards } from './wildcards.ts';

/** A pod with one container, whose only process has all sockets of the machine. */
async function looks(sockets: () => readonly Listener[]): Promise<() => readonly string[]> {
  const { host } = new MemoryMachine(() => 0);
  const inodes = () => sockets().map(({ inode }) => inode);
  const processes = { ...host.processes, listeners: sockets, sockets: inodes };
  const main = { pid: 7, startTime: '7', parent: 1, session: 7, isZombie: false };
  const all = { ...processes, all: () => [main], find: () => main };
  const runs = await Runs.open({ ...host, processes: all }, '/node', () => 0);
  const container = { name: 'main', isLive: true, latest: { attempt: 0, main }, keyOf: () => ({}), offence: undefined };
  const pod = { key: 'a/b', address: '127.1.1.1', pod: { spec: {} }, containers: new Map([['main', container]]) };
  const wildcards = new Wildcards({ ...host, processes: all }, runs);
  return () => {
    container.offence = undefined;
    return wildcards.look([pod as unknown as PodKeeper]).map(({ key }) => key);
  };
}

const socket = (protocol: Listener['protocol'], inode: string): Listener => ({
  protocol,
  port: 53,
  isWildcard: true,
  inode,
});

test('who listens is an offender at once; with datagrams only who is there twice', async () => {
  let there: readonly Listener[] = [socket('tcp', '1')];
  assert.deepEqual((await looks(() => there))(), ['a/b']);
  there = [socket('udp', '2')];
  const look = await looks(() => there);
  assert.deepEqual(look(), []);
  there = [socket('udp', '3')]; // another question, by another socket
  assert.deepEqual(look(), []);
  assert.deepEqual(look(), ['a/b']);
});
