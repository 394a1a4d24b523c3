export { jsonPatch } from './json-patch.ts';
export { mergePatch } from './merge-patch.ts';
export type { PatchResult } from './result.ts';
export { strategicMergePatch } from './strategic.ts';
