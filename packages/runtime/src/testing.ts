/** For tests of controllers: an API server in memory and a clock that moves when told. */
export { Refusal, TestApi } from './manager/api-testing.ts';
export { countingIds, noFiles, unlimitedRates } from './manager/setup-testing.ts';
export { constantRandom, seededRandom, settled, VirtualClock } from './ports/virtual-clock-testing.ts';
