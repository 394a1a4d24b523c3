/** Rows of texts under headings, as a server sends them or as we make them of objects, and how they are printed. */
import type { AnyObject } from '@reeve/kube';
import type { Style } from '../output/style.ts';

export interface TableColumn {
  readonly title: string;
  /** Only where there is room for it. */
  readonly wide: boolean;
}

export interface TableRow {
  readonly cells: readonly string[];
  readonly namespace: string | undefined;
}

export interface Table {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly TableRow[];
}

/** How a kind is shown: a title and what stands below it. */
export interface Column {
  readonly title: string;
  readonly wide?: boolean;
  of(object: AnyObject, now: number): string;
}

export function tableOf(columns: readonly Column[], objects: readonly AnyObject[], now: number): Table {
  return {
    columns: columns.map(({ title, wide = false }) => ({ title, wide })),
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.of(object, now)),
      namespace: object.metadata.namespace,
    })),
  };
}

interface ServerTable {
  readonly kind: 'Table';
  readonly metadata?: { readonly resourceVersion?: string };
  readonly columnDefinitions?: readonly { readonly name: string; readonly priority?: number }[];
  readonly rows?: readonly {
    readonly cells: readonly unknown[];
    readonly object?: { readonly metadata?: { readonly namespace?: string } };
  }[];
}

/** The table that a server made, or undefined: it sent the objects themselves. */
export function serverTable(answer: unknown): Table | undefined {
  if ((answer as Partial<ServerTable> | null)?.kind !== 'Table') return undefined;
  const { columnDefinitions = [], rows = [] } = answer as ServerTable;
  return {
    columns: columnDefinitions.map(({ name, priority = 0 }) => ({ title: name.toUpperCase(), wide: priority > 0 })),
    rows: rows.map(({ cells, object }) => ({ cells: cells.map(cellText), namespace: object?.metadata?.namespace })),
  };
}

export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') return JSON.stringify(value);
  // A table has one line for each row.
  return String(value as string | number | boolean | bigint).split('\n', 1)[0] ?? '';
}

export interface Layout {
  readonly isWide: boolean;
  readonly withNamespace: boolean;
  /** Before the name: `pod/`, where several kinds are shown. */
  readonly prefix: string;
}

const GAP = 3;
const LEAST_WIDTH = 5;

/** Prints a table, and rows that come later below it, as wide as the rows before. */
export class TablePrinter {
  readonly #layout: Layout;
  readonly #style: Style;
  #widths: readonly number[] = [];

  constructor(layout: Layout, style: Style) {
    this.#layout = layout;
    this.#style = style;
  }

  /** With its head, once. */
  text(table: Table): string {
    const rows = table.rows.map((row) => this.#cells(table.columns, row));
    const isFirst = this.#widths.length === 0;
    const titles = this.#cells(table.columns, undefined);
    this.#widths = titles.map((title, at) =>
      Math.max(LEAST_WIDTH, title.length, this.#widths[at] ?? 0, ...rows.map((cells) => cells[at]?.length ?? 0)),
    );
    const lines = rows.map((cells) => this.#line(cells));
    return [...(isFirst ? [this.#style.bold(this.#line(titles))] : []), ...lines].map((line) => `${line}\n`).join('');
  }

  /** Of a row, or of the head. */
  #cells(columns: readonly TableColumn[], row: TableRow | undefined): readonly string[] {
    const { isWide, withNamespace, prefix } = this.#layout;
    const cells = columns.flatMap(({ title, wide }, at) =>
      wide && !isWide ? [] : [row ? `${at === 0 ? prefix : ''}${row.cells[at] ?? ''}` : title],
    );
    return withNamespace ? [row ? (row.namespace ?? '') : 'NAMESPACE', ...cells] : cells;
  }

  #line(cells: readonly string[]): string {
    return cells
      .map((cell, at) => cell.padEnd((this.#widths[at] ?? 0) + GAP))
      .join('')
      .trimEnd();
  }
}
