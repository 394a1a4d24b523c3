/** Types for what no schema describes. */
import type { Field, Type } from './type.ts';

const noFields: ReadonlyMap<string, Field> = new Map<string, Field>([]);

/** One value as a whole, whatever it is. */
export const untypedAtomic: Type = {
  scalar: 'untyped',
  list: {
    relation: 'atomic',
    keys: [],
    get element() {
      return untypedAtomic;
    },
  },
  map: {
    fields: noFields,
    get element() {
      return untypedAtomic;
    },
    atomic: true,
  },
};

/** Maps have parts, lists are one value: the guess that is right most often. */
export const deduced: Type = {
  scalar: 'untyped',
  list: { relation: 'atomic', keys: [], element: untypedAtomic },
  map: {
    fields: noFields,
    get element() {
      return deduced;
    },
    atomic: false,
  },
};

/** An object of which nothing is known. */
export const freeForm: Type = { map: { fields: noFields, element: deduced, atomic: false } };
