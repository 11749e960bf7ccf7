import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf, rowsOf } from './read-rows.js';
import { readDump } from './read-dump.js';
import { statementsOf, tableOf } from './sql-statements.js';

const header = '-- MySQL dump 10.13\n/*!40101 SET NAMES utf8mb4 */;\nLOCK TABLES `ai_device` WRITE;\n';
const create = `CREATE TABLE \`ai_device\` (
  \`id\` varchar(32) NOT NULL COMMENT 'it''s; the id, (MAC)',
  \`user_id\` bigint DEFAULT NULL,
  \`mac_address\` varchar(50) DEFAULT NULL,
  \`agent_id\` varchar(32) DEFAULT NULL,
  \`price\` decimal(10,2) DEFAULT '0.00',
  PRIMARY KEY (\`id\`),
  KEY \`idx\` (\`mac_address\`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;`;

/** In pieces of a few characters, as a file may arrive. */
async function* inPieces(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield await Promise.resolve(text.slice(at, at + size));
}

async function statements(text: string, size: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const statement of statementsOf(inPieces(text, size), new Set(['ai_device']))) found.push(statement);
  return found;
}

const quoted = (value: string) =>
  `'${value.replace(/[\0\n\r\\'"\x1a]/g, (one) => `\\${{ '\0': '0', '\n': 'n', '\r': 'r', '\x1a': 'Z' }[one] ?? one}`)}'`;

describe('a MySQL dump', () => {
  it.each([1, 2, 7, 10_000])('is split into statements of the asked tables, in pieces of %s', async (size) => {
    const insert = "INSERT INTO `ai_device` VALUES ('a;b',NULL,'-- no comment','/* none */',1);";
    const other = "INSERT INTO `ai_model_config` VALUES ('sk-secret; INSERT INTO `ai_device` VALUES (1)');";
    const found = await statements(`${header}${create}\n${other}\n# end;\n${insert}`, size);
    expect(found.map((statement) => tableOf(statement)?.table)).toEqual(['ai_device', 'ai_device']);
    expect(found[1]).toBe(insert.slice(0, -1));
  });

  it('has the columns of the table, without keys', () => {
    expect(columnsOf(create)).toEqual(['id', 'user_id', 'mac_address', 'agent_id', 'price']);
  });

  it('has rows with any text, number and NULL, as MySQL escapes them', async () => {
    const value = fc.oneof(fc.constant(null), fc.string({ unit: 'binary' }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 4 }), async (rows) => {
        const written = rows.map((row) => `(${row.map((one) => (one === null ? 'NULL' : quoted(one))).join(',')})`);
        const [statement = ''] = await statements(
          `INSERT INTO ai_device (id, alias) VALUES\n${written.join(', ')};`,
          5,
        );
        expect([...rowsOf(statement, undefined)]).toEqual(rows.map(([id, alias]) => ({ id, alias })));
      }),
    );
  });

  it('may double quotes, name the character set, and write numbers, bits and hexadecimal values', () => {
    const insert = "INSERT INTO `db`.`ai_device` (`a`,`b`,`c`,`d`,`e`) VALUES ('it''s',_utf8mb4'x',-1.5e3,b'1',0xFF)";
    expect([...rowsOf(insert, undefined)]).toEqual([{ a: "it's", b: 'x', c: '-1.5e3', d: '1', e: '0xFF' }]);
  });

  it('is refused with the place of what cannot be read, and without its values', async () => {
    const broken = "INSERT INTO ai_device (id) VALUES ('secret' 'more')";
    expect(() => [...rowsOf(broken, undefined)]).toThrow(/ai_device cannot be read at its character \d+\.$/);
    expect(() => [...rowsOf('INSERT INTO ai_device VALUES (1)', undefined)]).toThrow('--complete-insert');
    expect(() => [...rowsOf('INSERT INTO ai_device (a, b) VALUES (1)', undefined)]).toThrow('1 values for 2 columns');
    await expect(statements("INSERT INTO ai_device VALUES ('a", 3)).rejects.toThrow('in the middle of a text');
  });
});

describe('what is read of a dump', () => {
  it('are boards, agents and users, without passwords', async () => {
    const dump = await readDump(
      inPieces(
        `${header}${create}
INSERT INTO \`ai_device\` VALUES ('02:00:00:00:00:01',1843977612345678901,'02:00:00:00:00:01','a1',1.00);
INSERT INTO \`sys_user\` (\`id\`,\`username\`,\`password\`,\`status\`) VALUES
(1843977612345678901,'anna','$2a$secret',1);
INSERT INTO \`ai_agent\` (\`id\`,\`agent_name\`,\`user_id\`,\`system_prompt\`) VALUES ('a1','Guide',1,'long');`,
        64,
      ),
    );
    expect(dump.ai_device).toMatchObject([{ id: '02:00:00:00:00:01', user_id: '1843977612345678901', agent_id: 'a1' }]);
    expect(dump.sys_user).toEqual([{ id: '1843977612345678901', username: 'anna', status: '1' }]);
    expect(dump.ai_agent).toEqual([{ id: 'a1', user_id: '1', agent_name: 'Guide' }]);
  });

  it('needs the table of the boards', async () => {
    await expect(readDump(inPieces('CREATE TABLE `other` (`id` int);', 9))).rejects.toThrow('no table ai_device');
  });
});
