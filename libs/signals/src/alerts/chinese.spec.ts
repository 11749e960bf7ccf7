import { expect, it } from 'vitest';
import type { AlertFacts } from './alert-facts.js';
import { summaryOf } from './alert-text.js';

const at = Date.UTC(2027, 0, 15, 8);
const common = { ruleName: 'rule', beganFrom: at, beganTo: at };
const chinese = (facts: Pick<AlertFacts, 'kind' | 'label' | 'reason'>) =>
  summaryOf(
    { facts: { ...common, ...facts }, isGroup: false, deviceCount: 1 },
    { language: 'zh', timeZone: 'Asia/Shanghai' },
  );

it.each([
  ['abort rule', '停止规则'],
  ['health gate', '健康检查'],
  ['image without a valid signature', '镜像没有有效签名'],
  [undefined, '停止规则'],
])('a job that was stopped by its %s is explained in Chinese', (reason, words) => {
  expect(chinese({ kind: 'JOB_STOPPED', label: '音量', reason })).toMatch(
    new RegExp(`^任务“音量”于 .* 停止：${words}。$`),
  );
});

it('desired states keep their names, and their states are in Chinese', () => {
  const reason = 'evening (DRIFTED), Volume (low) (FAILED)';
  expect(chinese({ kind: 'DESIRED_STATE_OUT_OF_SYNC', label: '客厅', reason })).toMatch(
    /^客厅 .*：evening（已偏离）、Volume \(low\)（失败）。$/,
  );
});

it.each([
  ['writer calls', 'the writer "calls" is 40 s behind', '“calls”的写入出现延迟'],
  ['dropped rows', 'a writer dropped rows', '部分数据未能写入，已被丢弃'],
  ['storage', 'the file storage does not answer', '文件存储没有响应'],
  ['queue', 'the queue does not answer', '队列没有响应'],
])('the problem "%s" of the hub is in Chinese', (label, reason, words) => {
  expect(chinese({ kind: 'HUB_UNHEALTHY', label, reason })).toMatch(new RegExp(`^中枢自 .* 起状态异常：${words}。$`));
});
