/** Custom kinds: their definitions, their schemas, their expressions. */
import type { Area } from '../case.ts';
import { definitionCases } from './definitions.ts';
import { expressionCases } from './expressions.ts';
import { schemaCases } from './schemas.ts';

export const customArea: Area = { name: 'custom', cases: [...definitionCases, ...schemaCases, ...expressionCases] };
