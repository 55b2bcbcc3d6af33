/** Texts of the fleet. */

import { decimal, plural as counted, whole } from "../format";

const plural = (n: number, one: string, other = `${one}s`): string => counted(n, { one, other });

export const fleet = {
  title: "Fleet",
  lead: "The machines behind this server: workers compute for it, other servers share its games.",
  loading: "Loading the fleet",

  what: "What is a fleet?",
  about: [
    "A fleet is a group of computers that help this one. They play the games of tournaments and training runs that are started here, and the results are the same as on this machine, only sooner.",
    "A computer that helps is called a worker. It may come and go at any time: nothing is lost, and others finish what it has begun.",
    "Workers and servers find each other through NATS, a small message server.",
  ],
  steps: "Start one",
  startNats: "Start the NATS server on this machine:",
  natsOpen: "It lets everybody in who can reach it, so keep it on a private network or secure it.",
  startServer: "Start this server with its address:",
  addWorker: "On every computer that is to help, install Claimeven and start a worker:",
  add: "Add a machine",
  addAbout: "Install the same version of Claimeven on it and start one command:",
  addHost: "Instead of HOST, write the address of this machine as the other one sees it.",
  copy: "Copy",
  copied: "Copied",
  noWorkers: "No worker is connected.",
  noWorkersAbout: "Until one comes, this server plays its tournaments and training runs itself.",

  notAllowed: "Only the operator of this server can see its fleet.",
  notAllowedAbout: "By default it is shown to browsers on the machine of the server, for example through an SSH tunnel. The setting fleet_page changes that.",

  lost: (nats: string) => `The NATS server at ${nats} cannot be reached.`,
  lostSince: (time: string) => `It has been away for ${time}. Games go on, and this server does its own work until it is back.`,
  lostCheck: "Check that nats-server is running there and that no firewall is in between. The connection is made again by itself.",
  lastSeen: "Below is what was seen last.",

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
    up: "Running for",
  },
  otherVersion: (own: string) => `It has another version than this server (${own}) and cannot help it.`,
  kinds: { games: "games", book: "opening books", solve: "positions", "self-play": "self-play", gate: "gate matches", exam: "exams", moves: "moves", sample: "test positions" } as Record<string, string>,
  gone: "Gone in the last ten minutes",
  stopped: (worker: string, ago: string, done: number) => `${worker} was stopped ${ago} ago, after ${plural(done, "unit")}.`,
  silent: (worker: string, ago: string, done: number) => `${worker} has not been heard from for ${ago}; it had done ${plural(done, "unit")}.`,

  jobs: "Jobs",
  noJobs: "No job is running. Start a tournament in the arena, or a command with --nats.",
  job: (kind: string, host: string, version: string) => `${kind}, started on ${host}, version ${version}`,
  progress: (done: number, units: number) => `${whole(done)} of ${plural(units, "unit")}`,
  jobFacts: { repeated: "Repeated", checked: "Checked", setAside: "Set aside", dismissed: "Workers dismissed", rate: "Units/s", left: "Time left" },
  jobAbout: {
    repeated: "Results that came a second time, because a worker or the NATS server was interrupted. They are ignored.",
    checked: "Units that a second worker computed as well, with the same result.",
    setAside: "Units that ended three workers. The rest of the job is finished without them.",
    dismissed: "Workers whose result was wrong. All their results are computed again.",
  },
  setAside: (unit: string, reason: string) => `Unit ${unit} was set aside: ${reason}`,
  dismissed: (worker: string, reason: string) => `${worker} was dismissed: ${reason}`,

  servers: "Servers",
  serverColumns: { server: "Server", connected: "Connection", version: "Version", led: "Games led", live: "Games in memory", up: "Running for" },
  thisServer: (name: string) => `${name} (this one)`,
  connected: "connected",
  cutOff: "cannot reach NATS",
  ledAbout: "A server leads a game if it lets its agents think and watches its clock. Moves are accepted by every server.",

  linkWorkers: (workers: number) => `Fleet: ${plural(workers, "worker")}`,
  linkNone: "Let other machines help",
  playedBy: (workers: number) => `Played by ${plural(workers, "worker")} of the fleet.`,
  latest: "Games that have just ended",
  perSecond: (rate: number) => decimal(rate, 1),
};
