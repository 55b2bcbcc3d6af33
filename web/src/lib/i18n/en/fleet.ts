/** Texts of the fleet. */

import { decimal, plural as counted, whole } from "../format";

const plural = (n: number, one: string, other = `${one}s`): string => counted(n, { one, other });

export const fleet = {
  title: "Fleet",
  lead: "The machines behind this server: workers compute for it, other servers share its games.",
  loading: "Loading the fleet",

  what: "What is a fleet?",
  about: [
    "A fleet is a group of computers that help this one. They play the games of the tournaments and training runs started here. The results are the same as on this machine alone, only faster.",
    "A computer that helps is called a worker. Workers can come and go at any time: nothing is lost, and others finish what they started.",
    "Workers and servers find each other through NATS, a small message server.",
  ],
  steps: "Set up a fleet",
  startNats: "Start the NATS server on this machine:",
  natsOpen: "Anyone who can reach it can connect, so keep it on a private network or secure it.",
  startServer: "Start this server with its address:",
  addWorker: "On each computer that should help, install Claimeven and start a worker:",
  add: "Add a machine",
  addAbout: "Install the same version of Claimeven on it and run this command:",
  addHost: "Replace HOST with the address of this machine on your network.",
  copy: "Copy",
  copied: "Copied",
  noWorkers: "No workers are connected.",
  noWorkersAbout: "Until one connects, this server plays its tournaments and training runs itself.",

  notAllowed: "Only the operator of this server can see its fleet.",
  notAllowedAbout: "By default, it is only shown to browsers on the server’s own machine, for example through an SSH tunnel. The setting fleet_page changes that.",

  lost: (nats: string) => `The NATS server at ${nats} cannot be reached.`,
  lostSince: (time: string) => `It has been unreachable for ${time}. Games continue, and this server does all the work itself until it is back.`,
  lostCheck: "Check that nats-server is running there and that no firewall blocks it. This server reconnects automatically.",
  lastSeen: "Below is the last known state.",

  facts: { workers: "Workers", threads: "Threads", rate: "Units per second", waiting: "Units waiting", jobs: "Jobs" },
  units: "A unit is a small piece of work, such as one game.",
  rate: "Units per second",
  waiting: "Units waiting for a worker",
  minutesAgo: "minutes ago",
  now: "now",

  workers: "Workers",
  columns: {
    worker: "Worker",
    version: "Version",
    threads: "Threads",
    running: "Running",
    waiting: "Waiting",
    done: "Done",
    handedBack: "Handed back",
    rate: "Units/s",
    arithmetic: "Arithmetic",
    kinds: "Work",
    up: "Uptime",
  },
  otherVersion: (own: string) => `It runs a different version from this server (${own}) and cannot help it.`,
  kinds: { games: "games", book: "opening books", solve: "positions", "self-play": "self-play", gate: "gate matches", exam: "exams", moves: "moves", sample: "test positions" } as Record<string, string>,
  gone: "Left in the last ten minutes",
  stopped: (worker: string, ago: string, done: number) => `${worker} was stopped ${ago} ago, after ${plural(done, "unit")}.`,
  silent: (worker: string, ago: string, done: number) => `${worker} has not been heard from for ${ago}; it had finished ${plural(done, "unit")}.`,

  jobs: "Jobs",
  noJobs: "No jobs are running. Start a tournament in the arena, or a command with --nats.",
  job: (kind: string, host: string, version: string) => `${kind}, started on ${host}, version ${version}`,
  progress: (done: number, units: number) => `${whole(done)} of ${plural(units, "unit")}`,
  jobFacts: { repeated: "Repeated", checked: "Checked", setAside: "Set aside", dismissed: "Workers dismissed", rate: "Units/s", left: "Time left" },
  jobAbout: {
    repeated: "Results that arrived twice because a worker or the NATS server was interrupted. The second one is ignored.",
    checked: "Units that a second worker also computed, with the same result.",
    setAside: "Units that crashed three workers. The job is finished without them.",
    dismissed: "Workers that returned a wrong result. All their results are computed again.",
  },
  setAside: (unit: string, reason: string) => `Unit ${unit} was set aside: ${reason}`,
  dismissed: (worker: string, reason: string) => `${worker} was dismissed: ${reason}`,

  servers: "Servers",
  serverColumns: { server: "Server", connected: "Connection", version: "Version", led: "Games led", live: "Games in memory", up: "Uptime" },
  thisServer: (name: string) => `${name} (this one)`,
  connected: "connected",
  cutOff: "cannot reach NATS",
  ledAbout: "The server that leads a game runs its computer players and its clock. Every server accepts moves.",

  linkWorkers: (workers: number) => `Fleet: ${plural(workers, "worker")}`,
  linkNone: "Let other machines help",
  playedBy: (workers: number) => `Played by ${plural(workers, "worker")} of the fleet.`,
  latest: "Recently finished games",
  perSecond: (rate: number) => decimal(rate, 1),
};
