/**
 * What services are given: addresses and node ports, each from a range. The first part of a range is for those who ask for
 * one of it; who does not care gets one of the rest, by chance. What is taken is found in the services themselves, so that
 * there is nothing beside them that could be lost or could disagree.
 */
import type { Random } from '@reeve/kube';
import { EmbeddedError } from '../errors/errors.ts';
import { type Address, formatAddress, formatNetwork, masked, parseAddress, parseNetwork } from '../format/address.ts';

/** Whole numbers, both ends belong to it. */
interface Band {
  readonly first: number;
  readonly last: number;
  /** So many from the first on are given only when nothing else is left. */
  readonly aside: number;
}

export interface ServiceRanges {
  readonly addresses: Band & {
    /** The number of the network itself; a dry run shows it. */
    readonly network: number;
    /** As it was given. */
    readonly text: string;
  };
  readonly ports: Band;
}

const SERVICE_RANGE = '10.96.0.0/16';
/** Smaller ones have no room, larger ones are no private range. */
const LENGTHS = { least: 8, most: 29 };

/** @param range an IPv4 network. */
export function serviceRanges(range = SERVICE_RANGE): ServiceRanges {
  const network = parseNetwork(range);
  const isRight =
    typeof network !== 'string' &&
    network.address.bits === 32 &&
    network.length >= LENGTHS.least &&
    network.length <= LENGTHS.most &&
    formatNetwork(masked(network)) === range;
  if (!isRight) {
    const problem = `${range} is no IPv4 network from /${LENGTHS.least} to /${LENGTHS.most}`;
    throw new EmbeddedError('EMBEDDED_SERVICE_RANGE', problem, [range]);
  }
  const size = 2 ** (32 - network.length);
  const base = Number(network.address.value);
  // Neither the network itself nor its broadcast address.
  const band = { first: base + 1, last: base + size - 2, aside: asideOf(size, 16, 256) };
  const addresses = { ...band, network: base, text: range };
  const ports = { first: 30_000, last: 32_767, aside: asideOf(2_768, 32, 128) };
  return { addresses, ports };
}

function asideOf(size: number, part: number, most: number): number {
  return size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / part)), most);
}

/** One that is free; undefined: there is none. */
export function chosen({ first, last, aside }: Band, isTaken: (one: number) => boolean, random: Random) {
  return (
    freeWithin(first + aside, last, isTaken, random) ??
    (aside === 0 ? undefined : freeWithin(first, first + aside - 1, isTaken, random))
  );
}

function freeWithin(
  first: number,
  last: number,
  isTaken: (one: number) => boolean,
  random: Random,
): number | undefined {
  const size = last - first + 1;
  const start = Math.floor(random.next() * size);
  for (let step = 0; step < size; step++) {
    const one = first + ((start + step) % size);
    if (!isTaken(one)) return one;
  }
  return undefined;
}

export const isWithin = ({ first, last }: Band, one: number): boolean => one >= first && one <= last;

export const addressText = (number: number): string => formatAddress({ bits: 32, value: BigInt(number) });

/** Undefined for what is no IPv4 address. */
export function addressNumber(text: string): number | undefined {
  const address: Address | string = parseAddress(text);
  return typeof address === 'string' || address.bits !== 32 ? undefined : Number(address.value);
}

/** How what a service holds is named, so that addresses and ports cannot be mistaken for each other. */
export const heldPort = (port: number): string => `port ${port}`;
