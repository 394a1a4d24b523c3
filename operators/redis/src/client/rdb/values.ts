/** How long each kind of value is in a snapshot: it is passed over as it is, byte for byte, and never understood. */
import { type Cursor, unreadable } from './cursor.ts';

/** Whose snapshot it is: some numbers mean one thing here and another there. */
export type Family = 'redis' | 'valkey';

type Skip = (cursor: Cursor) => void;

const STREAM_ID_BYTES = 16;
const TIME_BYTES = 8;

const skipString: Skip = (cursor) => cursor.skipString();

/** So many, then each. */
function many(each: Skip): Skip {
  return (cursor) => {
    const count = cursor.length();
    for (let n = 0; n < count; n++) each(cursor);
  };
}

const strings = (perItem: number): Skip => many((cursor) => cursor.skipStrings(perItem));

/** Scores of old snapshots: a length, of which the three highest mean "not a number" and the infinities, then digits. */
function skipTextScore(cursor: Cursor): void {
  const length = cursor.byte();
  if (length < 253) cursor.take(length);
}

/** `since`: 1, 2 or 3, as the layout of streams grew. */
function stream(since: 1 | 2 | 3): Skip {
  return (cursor) => {
    many((each) => each.skipStrings(2))(cursor);
    // How many entries, the last id; then the first id, the last one that was deleted, how many there ever were.
    cursor.lengths(since >= 2 ? 8 : 3);
    many((group) => {
      group.skipString();
      group.lengths(since >= 2 ? 3 : 2);
      many((pending) => {
        pending.take(STREAM_ID_BYTES + TIME_BYTES);
        pending.length();
      })(group);
      many((consumer) => {
        consumer.skipString();
        consumer.take(since >= 3 ? 2 * TIME_BYTES : TIME_BYTES);
        many((pending) => void pending.take(STREAM_ID_BYTES))(consumer);
      })(group);
    })(cursor);
  };
}

const MODULE_END = 0;

/** What a module wrote says of each part what it is. */
function skipModule(cursor: Cursor): void {
  cursor.length();
  skipModuleParts(cursor);
}

export function skipModuleParts(cursor: Cursor): void {
  for (let part = cursor.length(); part !== MODULE_END; part = cursor.length()) {
    if (part === 1 || part === 2) cursor.length();
    else if (part === 3) cursor.take(4);
    else if (part === 4) cursor.take(8);
    else if (part === 5) cursor.skipString();
    else throw unreadable(`a module wrote a part of kind ${part}`);
  }
}

const quickList: Skip = many((node) => {
  node.length();
  node.skipString();
});

const COMMON: Readonly<Record<number, Skip>> = {
  0: skipString,
  1: strings(1),
  2: strings(1),
  3: many((cursor) => {
    cursor.skipString();
    skipTextScore(cursor);
  }),
  4: strings(2),
  5: many((cursor) => {
    cursor.skipString();
    cursor.take(8);
  }),
  7: skipModule,
  9: skipString,
  10: skipString,
  11: skipString,
  12: skipString,
  13: skipString,
  14: strings(1),
  15: stream(1),
  16: skipString,
  17: skipString,
  18: quickList,
  19: stream(2),
  20: skipString,
  21: stream(3),
};

/** Hashes whose fields end at times of their own. */
const OWN: Readonly<Record<Family, Readonly<Record<number, Skip>>>> = {
  valkey: {
    22: many((cursor) => {
      cursor.skipStrings(2);
      cursor.take(TIME_BYTES);
    }),
  },
  redis: {
    24: (cursor) => {
      cursor.take(TIME_BYTES);
      many((field) => {
        field.length();
        field.skipStrings(2);
      })(cursor);
    },
    25: (cursor) => {
      cursor.take(TIME_BYTES);
      cursor.skipString();
    },
  },
};

export function skipValue(cursor: Cursor, kind: number, family: Family): void {
  const skip = COMMON[kind] ?? OWN[family][kind];
  if (!skip) throw unreadable(`values of kind ${kind} (${family}) are not known to this version of Reeve`);
  skip(cursor);
}
