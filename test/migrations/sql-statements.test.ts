import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { statementsOf } from '../../src/adapters/postgres/migrate/sql-statements.ts'

describe('the statements of a file', () => {
  it.each([
    ['two', 'select 1; select 2;', ['select 1', 'select 2']],
    ['one without an end', 'select 1', ['select 1']],
    ['none', ' ;;\n; -- nothing\n/* at all */', []],
    ['a body between dollars', 'do $$ begin; end; $$; select 2', ['do $$ begin; end; $$', 'select 2']],
    ['a body with a tag', 'do $a$ x; $$ y; $b$ ; $a$;select 2', ['do $a$ x; $$ y; $b$ ; $a$', 'select 2']],
    ['a string', "select 'a;b', 'it''s;'; select 2", ["select 'a;b', 'it''s;'", 'select 2']],
    ['a string with escapes', "select E'it\\'s;', e'\\\\'; select 2", ["select E'it\\'s;', e'\\\\'", 'select 2']],
    ['a string that ends in a backslash', "select 'a\\'; select 2", ["select 'a\\'", 'select 2']],
    ['a name that ends in e before a string', "select size'a;\\'; select 2", ["select size'a;\\'", 'select 2']],
    ['a quoted name', 'drop table "a;""b;--"; select 2', ['drop table "a;""b;--"', 'select 2']],
    ['a comment with an end in it', 'select 1 -- no; end\n, 2; select 3', ['select 1  \n, 2', 'select 3']],
    ['a comment with a quote in it', "-- it's\nselect 1; select 2", ['select 1', 'select 2']],
    ['a block comment', 'select 1 /* ; */ , 2; select 3', ['select 1   , 2', 'select 3']],
    ['nested block comments', '/* a /* b; */ c; */ select 1; /* open ;', ['select 1']],
    ['what looks like a comment in a string', "select '--;', '/*'; select 2", ["select '--;', '/*'", 'select 2']],
    ['what looks like dollars in a name', 'select a$b$c; select d$b$', ['select a$b$c', 'select d$b$']],
    ['parameters', 'select $1; select $2', ['select $1', 'select $2']],
  ])('are seen: %s', (_, text, expected) => {
    expect(statementsOf(text)).toEqual(expected)
  })
})

describe('the migrations', () => {
  const files = readdirSync('migrations')

  it('are numbered without a gap, and each can be undone', () => {
    const names = files.filter((file) => /^\d{4}_\w+\.sql$/.test(file)).sort()
    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1))
    const undoing = names.map((name) => name.replace('.sql', '.down.sql'))
    expect(files.toSorted()).toEqual([...names, ...undoing, 'functions', 'schema.snapshot'].toSorted())
  })

  it('end each statement, so that they can be run by hand', () => {
    const functions = readdirSync('migrations/functions').map((file) => `functions/${file}`)
    for (const file of [...files.filter((name) => name.endsWith('.sql')), ...functions]) {
      expect(readFileSync(`migrations/${file}`, 'utf8').trimEnd().at(-1), file).toBe(';')
    }
  })
})
