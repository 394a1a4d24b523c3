/** The cases for whoever runs them against a server: `@reeve/embedded/cases`. */
export { basicCases } from './apply-basic-cases-testing.ts';
export { builtinCases } from './apply-builtin-cases-testing.ts';
export { statusCases } from './apply-status-cases-testing.ts';
export { structureCases } from './apply-structure-cases-testing.ts';
export type { Case, Step } from './case-testing.ts';
export { patchCases } from './patch-cases-testing.ts';
export { strategicCases } from './strategic-cases-testing.ts';
export { thing, thingSchema } from './thing-testing.ts';
