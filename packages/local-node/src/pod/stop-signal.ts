/** By which signal a container is asked to end. */
import { constants } from 'node:os';
import type { PodContainer } from './progress.ts';

/** SIGTERM, unless it names one that this machine has. Those of real time are not among them. */
export function stopSignalOf({ lifecycle }: PodContainer): NodeJS.Signals {
  const { stopSignal = '' } = lifecycle ?? {};
  return Object.hasOwn(constants.signals, stopSignal) ? (stopSignal as NodeJS.Signals) : 'SIGTERM';
}
