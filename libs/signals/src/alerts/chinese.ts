/** Alerts in Chinese. */
import type { AlertTexts, Words } from './alert-text.js';

const inGroup = ({ group }: Words) => (group === undefined ? '' : `“${group}”中`);
const within = ({ window: { count, unit } }: Words) => `${count} ${unit === 'second' ? '秒' : '分钟'}内`;

/** Stored alerts have their reasons in English. */
const stopReasons = {
  'abort rule': '停止规则',
  'health gate': '健康检查',
  'image without a valid signature': '镜像没有有效签名',
};
const complianceStates = {
  APPLYING: '正在应用',
  RETRYING: '正在重试',
  DRIFTED: '已偏离',
  HELD: '暂缓',
  CONFLICT: '冲突',
  FAILED: '失败',
};
/** By the name of the problem, which is the label of the alert. */
const hubProblems = {
  'dropped rows': '部分数据未能写入，已被丢弃',
  storage: '文件存储没有响应',
  queue: '队列没有响应',
};

const wordFor = (words: Readonly<Record<string, string>>, text: string) =>
  Object.hasOwn(words, text) ? words[text] : undefined;

/** Each desired state is followed by its state in brackets. */
const statesIn = (reason: string) =>
  reason.replaceAll(/ \(([A-Z_]+)\)(, |$)/g, (_, state: string, comma: string) => {
    return `（${wordFor(complianceStates, state) ?? state}）${comma === '' ? '' : '、'}`;
  });

function hubProblem({ facts: { reason }, label }: Words): string {
  const [, writer] = /^writer (.+)$/.exec(label) ?? [];
  return writer === undefined ? (wordFor(hubProblems, label) ?? reason ?? label) : `“${writer}”的写入出现延迟`;
}

export const chinese: AlertTexts = {
  summary: (words) => {
    const { facts, isGroup, label, count, from, to, total, value } = words;
    const since = from === to ? `于 ${from}` : `在 ${from} 至 ${to} 之间`;
    switch (facts.kind) {
      case 'DEVICE_OFFLINE':
        return isGroup
          ? `${inGroup(words)}${total} 台设备中有 ${count} 台${since}离线。`
          : `${label} 自 ${from} 起离线。`;
      case 'FLEET_OFFLINE_SHARE':
        return `${inGroup(words)}${total} 台设备中有 ${words.share} 自 ${from} 起离线（阈值 ${words.thresholdShare}）。`;
      case 'CALL_FAILURE_RATIO':
        return (
          `${inGroup(words)}${within(words)} ${total} 次调用中有 ${words.share} 失败，` +
          `自 ${from} 起（阈值 ${words.thresholdShare}）。`
        );
      case 'MEASUREMENT': {
        const limit = `${facts.path ?? ''} ${facts.below === true ? '低于' : '高于'} ${words.threshold}`;
        return isGroup
          ? `${count} 台设备的 ${limit}，自 ${from} 起。`
          : `${label} 的 ${limit}（${value}），自 ${from} 起。`;
      }
      case 'UNEXPECTED_RESTARTS':
        return isGroup
          ? `${inGroup(words)}${count} 台设备${since}出现异常重启。`
          : `${label} 在 ${within(words)}异常重启 ${value} 次，最近一次在 ${from}。`;
      case 'JOB_STOPPED':
        return `任务“${label}”于 ${from} 停止：${wordFor(stopReasons, facts.reason ?? 'abort rule') ?? facts.reason}。`;
      case 'DESIRED_STATE_OUT_OF_SYNC':
        return isGroup
          ? `${inGroup(words)}${count} 台设备自 ${from} 起未达到期望状态。`
          : `${label} 自 ${from} 起未达到期望状态${facts.reason === undefined ? '' : `：${statesIn(facts.reason)}`}。`;
      case 'CREDENTIAL_REFUSED':
        return isGroup ? `中枢${since}拒绝了 ${count} 台设备的凭据。` : `中枢于 ${from} 拒绝了 ${label} 的凭据。`;
      case 'WEBHOOK_FAILING':
        return `发往 ${label} 的 Webhook 自 ${from} 起失败。`;
      case 'HUB_UNHEALTHY':
        return `中枢自 ${from} 起状态异常：${hubProblem(words)}。`;
    }
  },
  advice: {
    DEVICE_OFFLINE: '请先检查现场的电源和网络。',
    FLEET_OFFLINE_SHARE: '请先检查各现场的网络和中枢的网关。',
    CALL_FAILURE_RATIO: '请先打开调用记录，按错误查看。',
    MEASUREMENT: '请先打开设备页面查看曲线。',
    UNEXPECTED_RESTARTS: '请先比较固件版本，再检查供电。',
    JOB_STOPPED: '请先打开任务查看失败原因，再恢复或取消。',
    DESIRED_STATE_OUT_OF_SYNC: '请先打开期望状态，查看设备的错误。',
    CREDENTIAL_REFUSED: '如果是您的设备，请签发新的凭据；否则请查明是谁在连接。',
    WEBHOOK_FAILING: '请先确认接收端正在运行并返回 2xx。',
    HUB_UNHEALTHY: '请先查看中枢页面和中枢日志。',
  },
  severity: { INFO: '信息', WARNING: '警告', CRITICAL: '严重' },
  resolved: '已恢复',
  resolvedAt: (time) => `已于 ${time} 恢复。`,
  examples: (names, more) => `${names.join('、')}${more > 0 ? ` 等，另有 ${more} 台` : ''}`,
  several: (count, isResolved) => (isResolved ? `${count} 条告警已恢复` : `${count} 条告警`),
  open: '在控制台中打开',
  test: { title: '测试消息', line: '此通道可用，Flotilla 会将告警发送到这里。' },
};
