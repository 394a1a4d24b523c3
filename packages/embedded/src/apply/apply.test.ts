import { test } from 'node:test';
import { basicCases } from '../cases/apply-basic-cases-testing.ts';
import { builtinCases } from '../cases/apply-builtin-cases-testing.ts';
import { statusCases } from '../cases/apply-status-cases-testing.ts';
import { structureCases } from '../cases/apply-structure-cases-testing.ts';
import { checkCase } from '../cases/check-testing.ts';

const cases = [...basicCases, ...structureCases, ...statusCases, ...builtinCases];

for (const one of cases) test(one.name, () => checkCase(one));
