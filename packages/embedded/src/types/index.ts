export { builtinTypes } from './builtin.ts';
export {
  type CustomDefinition,
  type CustomVersion,
  customTypes,
  deducedTypes,
  type StructuralSchema,
} from './custom.ts';
export type { KindTypes, ResetPaths } from './kind-types.ts';
export type { Type } from './type.ts';
