/** The sample operator, for proofs that take longer than a test may. */
export { findings } from './findings.ts';
export { sampleScenario, type Through } from './scenario.ts';
