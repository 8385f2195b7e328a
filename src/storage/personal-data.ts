/** What each table stores of a person: which rows an export has, and what an erasure does with them. */

import type { Database } from "./database.ts";
import type { Schema } from "./schema.ts";

/**
 * Kinds of values by which columns name a person. `caller`: whoever made a request: a key of the user, the user, or a
 * session. `user`, `key` and `session` are unique in the installation; the others belong to an organization.
 */
export type IdentifierKind = "user" | "key" | "caller" | "email" | "endUser";

/** One way in which texts name a person. */
export interface Quotation {
  /** Part that each such text has, in any case. */
  token: string;
  /** Whether it is an ID or an address, which names nothing else. */
  isIdentifier: boolean;
  /** No passage is longer, in UTF-16 code units. */
  maxLength: number;
  /** Returns the first passage that names the person and begins at `from` or later. Takes time in proportion to the text. */
  find(text: string, from: number): { start: number; end: number } | undefined;
}

/** A user of an organization, or an end user of an application. */
export interface Person {
  organizationId: string;
  /** Random name that replaces the person where rows remain. */
  pseudonym: string;
  /** Values that name the person; an end user has `endUser` only. */
  identifiers: Readonly<Record<IdentifierKind, readonly string[]>>;
  /** What names the person in texts of others, too: IDs, addresses, a first name with a last name. */
  quotations: readonly Quotation[];
  /** Whether the person asks for the export, which then has what nobody else may read. */
  isAuthor?: boolean;
}

/** What reads and erases rows; features add what opens their content. */
export interface PersonalContext {
  database: Database;
}

type Table = keyof Schema & string;
type Column<Name extends Table> = keyof Schema[Name] & string;

/** Stands for the person's pseudonym in the changes of an erasure. */
export const PSEUDONYM = Symbol("pseudonym");

/** Rows that name the person in a column. */
interface PersonalRows<Name extends Table> {
  /** Columns with an identifier of the person; a row belongs to the person when one matches. */
  by: { readonly [Each in Column<Name>]?: IdentifierKind };
  /** Columns that an export leaves out: hashes, encrypted content, and what is about other persons. */
  hidden?: readonly Column<Name>[];
  /** Unique column; the export reads tables with it in pages. */
  order?: Column<Name>;
  /** `delete`, or the columns that change. */
  erase: "delete" | { readonly [Each in Column<Name>]?: Schema[Name][Each] | typeof PSEUDONYM };
}

/** Rows that need queries: they name the person through another table, in a text, or have bytes elsewhere. */
export interface QueriedRows<Name extends Table> {
  /** Columns that the queries take care of. */
  columns: readonly Column<Name>[];
  /** Reads what the export shows, in the form of rows. */
  read?(context: PersonalContext, person: Person): AsyncIterable<object>;
  /** Returns the number of rows. Called again after a failure, so it must not depend on being called once. */
  erase?(context: PersonalContext, person: Person): Promise<number>;
}

/**
 * What a text consists of, and so what in it can mean a person. `prose`: what people write, also names that they give.
 * `json`: JSON whose strings are prose. `definition`: JSON in a format of the service, in which a single word is one of the
 * format, such as `input_text`, unless it is an ID or an address. `label`: a name by which others refer to a thing, such as
 * a model; only IDs and addresses are a person's.
 */
export type TextKind = "prose" | "json" | "definition" | "label";

/** Texts that people write, which may quote a person in any place. An erasure puts the pseudonym there. */
interface FreeTexts<Name extends Table> {
  columns: { readonly [Each in Column<Name>]?: TextKind };
  /** Column with the organization or the project of a row, or with the ID of a row of `table`, which has it. */
  within: "organizationId" | "projectId" | { column: Column<Name>; table: Table; by: "organizationId" | "projectId" };
  /** Columns of the primary key; default: `id`. */
  key?: readonly Column<Name>[];
}

/** How a table takes part in export and erasure, or why it does not. */
type TableRegistration<Name extends Table> =
  | {
      /** Why neither export nor erasure concerns the table, beyond its texts. */
      reason: string;
      texts?: FreeTexts<Name>;
      /** Texts of the operator or the service, with the reason why they name no person. */
      impersonal?: { readonly [Each in Column<Name>]?: string };
    }
  | {
      rows: readonly (PersonalRows<Name> | QueriedRows<Name>)[];
      texts?: FreeTexts<Name>;
      /** Columns whose name suggests a person, with the reason why they name none. */
      impersonal?: { readonly [Each in Column<Name>]?: string };
    };

/** Registrations of a feature's tables. */
export type PersonalData = { readonly [Name in Table]?: TableRegistration<Name> };

/** Registrations of all tables. */
export type AllPersonalData = { readonly [Name in Table]: TableRegistration<Name> };
