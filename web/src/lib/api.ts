// Made by `npm run api` from the server's openapi.json. Do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A new agent for a seat. */
        AgentInput: {
            agent: string;
            /** Format: int32 */
            player: number;
        };
        /** @description A kind of player. */
        AgentView: {
            about: string;
            name: string;
            parameters: components["schemas"]["ParameterView"][];
        };
        /** @description All players to choose from. */
        AgentsView: {
            agents: components["schemas"]["AgentView"][];
            levels: components["schemas"]["LevelView"][];
        };
        /** @description A position to analyze. */
        AnalysisInput: {
            position?: components["schemas"]["PositionInput"];
            /** @description Whether to take more time than a quick analysis. */
            thorough?: boolean;
        };
        /** @description The analysis of a position. */
        AnalysisView: {
            /** @description The best moves, if known. */
            best: number[];
            /** @description The discs as a picture, the top row first. */
            board: string;
            /** @description Whether it is in the opening book. */
            book: boolean;
            /** @description From the left; `null` for full columns and where nothing is known. */
            columns: (components["schemas"]["ColumnValueView"] | null)[];
            estimate?: components["schemas"]["EstimateView"] | null;
            /** @description Whether everything is exact. */
            exact: boolean;
            /** @description The legal moves. */
            legal: number[];
            /** @description The completed lines, each a list of cells as column and row. */
            lines: number[][][];
            /** Format: double */
            ms: number;
            /** Format: int64 */
            nodes: number;
            outcome?: components["schemas"]["OutcomeView"] | null;
            /** @description The principal variation to the end of the game, if known. */
            pv: number[];
            /** @description The completed lines of each player. */
            scores: number[];
            setup: components["schemas"]["Setup"];
            /** @description The threats of the first and of the second player: empty cells that would complete a line. */
            threats: components["schemas"]["ThreatView"][][];
            /** @description 0 for the first player, 1 for the second; `null` in a finished game. */
            to_move?: number | null;
            value?: components["schemas"]["ValueView"] | null;
        };
        /** @description A first attempt at a puzzle. */
        AttemptInput: {
            /** @description The moves of the puzzle. */
            moves: string;
            /** @description Solved without a mistake or a hint. */
            solved: boolean;
        };
        /** @description A better move. */
        BetterView: {
            /** Format: int32 */
            column: number;
            reason: components["schemas"]["ExplanationView"];
        };
        /** @description A game in progress, or one that workers have just played. */
        BoardView: {
            /** @description Which of them moved first. */
            first: number;
            moves: string;
            /** @description The number of the game, from 1. */
            number: number;
            /** @description The players' names. */
            players: string[];
        };
        /** @description The time control of a game. */
        ClockInput: {
            /** Format: int64 */
            increment_ms: number;
            /** Format: int64 */
            initial_ms: number;
        };
        /** @description The clock. */
        ClockView: {
            /** Format: int64 */
            increment_ms: number;
            /** Format: int64 */
            initial_ms: number;
            remaining_ms: number[];
            /** @description Whose clock is running. */
            running?: number | null;
        };
        /** @description A mark on the board. Cells are column and row. */
        CoachMarkView: {
            cells: number[][];
            /**
             * @description `four`, `ring` (the deciding cell), `pair` (of which each player gets one), `held` (cells that the winner leaves
             *     alone), `move` or `number`.
             */
            kind: string;
            /** @description The number of the move, or the number on the cell. */
            number?: number | null;
            /** @description The player it belongs to. */
            player?: number | null;
        };
        /** @description What is known about a move, for the side to move. */
        ColumnValueView: {
            /**
             * Format: int32
             * @description Lower bound of the result: 1 for a win, 0 for a draw, -1 for a loss.
             */
            at_least: number;
            /**
             * Format: int32
             * @description Upper bound of the result.
             */
            at_most: number;
            /** Format: int32 */
            column: number;
            /**
             * Format: int32
             * @description The opponent cannot force a win with this many of its next discs.
             */
            no_loss_within: number;
            value?: components["schemas"]["ValueView"] | null;
        };
        /** @description The value of a move for the side to move. */
        ColumnView: {
            /** @description `exact`, `upper` or `lower`. */
            bound: string;
            /** Format: int32 */
            column: number;
            value: components["schemas"]["ValueView"];
        };
        /** @description A cut-off. */
        CutView: {
            alpha: string;
            beta: string;
            columns: string[];
        };
        /** @description An empty object. */
        EmptyInput: Record<string, never>;
        /** @description A player of a tournament. */
        EntrantInput: {
            agent: string;
            name?: string | null;
        };
        /** @description The body of an error response. */
        ErrorView: {
            /** @description The error message, on one line. */
            error: string;
            game?: components["schemas"]["GameView"] | null;
            /** @description The id of the request in the server's log, if the server is at fault. */
            request_id?: string | null;
        };
        /** @description The preference of a depth-limited search. */
        EstimateView: {
            /** Format: int32 */
            column: number;
            /**
             * Format: int32
             * @description The completed depth of the search, in plies.
             */
            depth: number;
            /** @description The expected continuation. */
            pv: number[];
            value: components["schemas"]["ValueView"];
        };
        /** @description A position to explain, or a move in it. */
        ExplainInput: {
            /**
             * Format: int32
             * @description The move to explain.
             */
            column?: number | null;
            position?: components["schemas"]["PositionInput"];
        };
        /** @description Why a position, or the position after a move, is won, lost or drawn. */
        ExplainView: {
            better?: components["schemas"]["BetterView"] | null;
            /**
             * Format: int32
             * @description The move, if one was given.
             */
            column?: number | null;
            /** @description An obvious flaw of the move: `opens`, `leaves_four` or `misses_four`. */
            note?: string | null;
            /** @description The position after the move, or the position itself. */
            reason: components["schemas"]["ExplanationView"];
            /** @description The explanation as sentences in a form that can be translated. */
            sentences: Record<string, never>[];
        };
        /** @description The reason for a result, at the end of a line of best play. */
        ExplanationView: {
            /**
             * @description The kind of reason: `wins_now`, `double_threat`, `every_move_opens`, `forced`, `every_reply`, `zugzwang`,
             *     `follow_up`, `numbers`, `draw`, `calculation` or `over`.
             */
            kind: string;
            /** @description Best play up to the position of the reason. */
            line: number[];
            /** @description The marks to draw on the board. */
            marks: components["schemas"]["CoachMarkView"][];
            /**
             * Format: int32
             * @description The number of discs that the winner still needs.
             */
            moves_to_win?: number | null;
            /** @description Whether the reason needs no search. */
            proven: boolean;
            /** @description The sentences about this position. */
            sentences: Record<string, never>[];
            /** @description 0 for the first player, 1 for the second, `null` for a draw. */
            winner?: number | null;
        };
        /** @description A continuation. */
        ExplorerMoveView: {
            /** Format: int32 */
            column: number;
            /** Format: int32 */
            drawn: number;
            /** Format: int32 */
            games: number;
            /** Format: int32 */
            lost: number;
            value?: components["schemas"]["ValueView"] | null;
            /**
             * Format: int32
             * @description Results of the first player to move.
             */
            won: number;
        };
        /** @description The continuations of a position. */
        ExplorerView: {
            /**
             * Format: int32
             * @description The number of games that start with these moves.
             */
            games: number;
            /** @description The continuations, the most frequent first. */
            moves: components["schemas"]["ExplorerMoveView"][];
        };
        /** @description A fleet. */
        Fleet: {
            /**
             * Format: int64
             * @description How many seconds it has been unreachable.
             */
            away_seconds: number;
            /** @description Whether it can be reached. If not, workers and jobs are those last seen. */
            connected: boolean;
            /** @description Workers that have left in the last ten minutes, the latest first. */
            gone: components["schemas"]["GoneView"][];
            /** @description The last five minutes. */
            history: components["schemas"]["PointView"][];
            jobs: components["schemas"]["FleetJobView"][];
            /** @description The NATS server, without a password. */
            nats: string;
            /**
             * Format: int64
             * @description The time of this view, in milliseconds since 1970.
             */
            now: number;
            /**
             * Format: double
             * @description Units per second of all workers.
             */
            rate: number;
            servers: components["schemas"]["ServerView"][];
            /** @description The version of this server, which workers must have as well. */
            version: string;
            /**
             * Format: int64
             * @description Units waiting for a worker.
             */
            waiting: number;
            workers: components["schemas"]["WorkerView"][];
        };
        /** @description A job of the fleet. */
        FleetJobView: {
            /**
             * Format: int64
             * @description Units computed by a second worker for comparison.
             */
            checked: number;
            /** @description Workers that were dismissed, and why. */
            dismissed: components["schemas"]["ReasonView"][];
            /** Format: int64 */
            done: number;
            /** @description The machine of its coordinator. */
            host: string;
            id: string;
            kind: string;
            /**
             * Format: double
             * @description Units per second, over the last ten seconds.
             */
            rate: number;
            /**
             * Format: int64
             * @description Results received more than once.
             */
            repeated: number;
            /**
             * Format: double
             * @description Estimated remaining time.
             */
            seconds_left?: number | null;
            /** @description Units that were set aside, and why. */
            set_aside: components["schemas"]["ReasonView"][];
            title: string;
            /** Format: int64 */
            units: number;
            version: string;
        };
        /** @description Whether the visitor may see the fleet, and the fleet. */
        FleetView: {
            /** @description Whether the visitor may see it. */
            allowed: boolean;
            fleet?: components["schemas"]["Fleet"] | null;
            /** @description Why not. */
            reason?: string | null;
        };
        /** @description A game in a list. */
        GameSummary: {
            /** Format: int64 */
            created: number;
            first: number;
            id: string;
            /** @description Whether it is in the public list. */
            listed: boolean;
            /** @description Whether the game is one of the visitor's own. */
            mine: boolean;
            /** @description The moves as text. */
            moves: string;
            players: components["schemas"]["SummaryPlayer"][];
            result?: components["schemas"]["ResultView"] | null;
            setup: components["schemas"]["Setup"];
            status: string;
        };
        /** @description A game as one visitor sees it. */
        GameView: {
            /**
             * Format: int64
             * @description How long a disconnected player has to reconnect, in games between people.
             */
            away_limit_ms?: number | null;
            clock?: components["schemas"]["ClockView"] | null;
            /**
             * Format: int64
             * @description Milliseconds since 1970.
             */
            created: number;
            /** @description Which of the players moves first. */
            first: number;
            id: string;
            /** @description The legal moves. */
            legal: number[];
            /** @description The completed lines, each a list of cells as column and row. */
            lines: number[][][];
            /** @description Whether it is in the public list. */
            listed: boolean;
            /** @description Whether the game is one of the visitor's own. */
            mine: boolean;
            moves: components["schemas"]["MoveView"][];
            offers: components["schemas"]["OffersView"];
            /** @description How many of the moves are the opening. */
            opening: number;
            players: components["schemas"]["PlayerView"][];
            ply: number;
            /** @description The id of the rematch. */
            rematch?: string | null;
            result?: components["schemas"]["ResultView"] | null;
            /** @description The completed lines of each player. */
            scores: number[];
            setup: components["schemas"]["Setup"];
            /** @description `waiting`, `playing` or `finished`. */
            status: string;
            /** @description The player whose agent is thinking. */
            thinking?: number | null;
            to_move?: number | null;
            /** @description How many moves can be redone. */
            undone: number;
            /**
             * Format: int64
             * @description Increases with each change of the game. Presence and thinking change without it.
             */
            version: number;
            /** @description The number of spectators. */
            watchers: number;
        };
        /** @description A worker that has left. */
        GoneView: {
            /**
             * Format: int64
             * @description Units that it had completed.
             */
            done: number;
            id: string;
            /**
             * Format: int64
             * @description Seconds since then.
             */
            seconds: number;
            /** @description Whether it was stopped; otherwise it fell silent. */
            stopped: boolean;
        };
        /** @description The games grouped by one property. */
        GroupView: {
            /** @description `opponent`, `player`, `colour`, `opening`, `size` or `ruleset`. */
            name: string;
            /** @description The most frequent first, at most 128. */
            rows: components["schemas"]["ResultsView"][];
        };
        /** @description A position. */
        HintInput: {
            /** @description The moves so far, as text. */
            moves?: string;
            setup?: components["schemas"]["Setup"];
        };
        /** @description The best move and the values of all columns. */
        HintView: {
            /** Format: int32 */
            column: number;
            /** @description From the left; `null` for full columns and where nothing is known. */
            columns: (components["schemas"]["ColumnView"] | null)[];
            /** @description Whether the values are exact. */
            exact: boolean;
            value: components["schemas"]["ValueView"];
        };
        /** @description The name of a person who joins. */
        JoinInput: {
            name?: string | null;
        };
        /** @description The number of games of one length. */
        LengthView: {
            /** Format: int32 */
            games: number;
            /** Format: int32 */
            moves: number;
        };
        /** @description A playing strength. */
        LevelView: {
            about: string;
            level: number;
        };
        /** @description Games, the latest first. */
        ListView: {
            games: components["schemas"]["GameSummary"][];
            /**
             * @description Pass it as `before` to get the next page. Even an empty page may have one, because each request
             *     examines a bounded number of games.
             */
            next?: string | null;
        };
        /** @description Whether a game is in the public list. */
        ListingInput: {
            listed: boolean;
        };
        /** @description A move. */
        MoveInput: {
            /**
             * Format: int64
             * @description Counted from 1.
             */
            column: number;
            /**
             * Format: int64
             * @description The number of moves made so far; a move for any other position is refused.
             */
            ply: number;
        };
        /** @description A move. */
        MoveView: {
            /** Format: int32 */
            column: number;
            /** Format: int64 */
            ms: number;
            /** Format: int64 */
            nodes?: number | null;
            player: number;
            /** Format: int32 */
            row: number;
            value?: string | null;
        };
        /** @description A new game. */
        NewGameInput: {
            clock?: components["schemas"]["ClockInput"] | null;
            /**
             * Format: int32
             * @description Who moves first; random by default.
             */
            first?: number | null;
            /** @description Whether the game is in the public list; by default only games between agents are. */
            listed?: boolean | null;
            /** @description The opening, as move text. */
            moves?: string;
            seats: components["schemas"]["SeatInput"][];
            setup?: components["schemas"]["Setup"];
        };
        /**
         * @description A node of a search tree. Values are from the point of view of the player at the root: `+12`, `W2`,
         *     `L1`, `draw`, `62 %`.
         */
        NodeView: {
            alpha?: string | null;
            beta?: string | null;
            /** @description `exact`, `upper` or `lower`. */
            bound: string;
            /** @description Whether it is on the principal variation. */
            chosen?: boolean;
            /**
             * Format: int32
             * @description The move that led to it.
             */
            column?: number | null;
            cut?: components["schemas"]["CutView"] | null;
            /**
             * Format: int64
             * @description The number of descendants left out.
             */
            hidden?: number;
            /** @description `max`, `min`, `leaf`, `end` or `table`. */
            kind: string;
            parent?: number | null;
            /** @description The label of a pass, on its first node. */
            pass?: string | null;
            value?: string | null;
            /** Format: int32 */
            visits?: number | null;
        };
        /** @description An offer, or the response to one. */
        OfferInput: {
            /** @description Whether to accept the other player's offer; omitted to make one. */
            accept?: boolean | null;
        };
        /** @description Open offers, each with the player who made it. */
        OffersView: {
            draw?: number | null;
            rematch?: number | null;
            undo?: number | null;
        };
        /** @description An agent's evaluation of a move. */
        OpinionColumnView: {
            /** @description `exact`, `upper` or `lower`. */
            bound: string;
            /** Format: int32 */
            column: number;
            value: components["schemas"]["ValueView"];
        };
        /** @description A position and the agent that evaluates it. */
        OpinionInput: {
            /** @description The agent's text. */
            agent: string;
            position?: components["schemas"]["PositionInput"];
        };
        /** @description An agent's evaluation of a position. */
        OpinionView: {
            agent: string;
            /**
             * Format: int32
             * @description The move it would play.
             */
            column: number;
            /** @description From the left; `null` for full columns and where it has no opinion. */
            columns: (components["schemas"]["OpinionColumnView"] | null)[];
            /** Format: int32 */
            depth: number;
            /** Format: double */
            ms: number;
            /** Format: int64 */
            nodes: number;
            /** @description The principal variation. */
            pv: number[];
            /**
             * @description The distribution of its simulations, or a network's policy, over the columns. Empty for other
             *     players.
             */
            shares: number[];
            /** Format: int64 */
            simulations: number;
            /** @description Whether the time limit ended the search. */
            stopped: boolean;
            /** @description Its evaluation for the side to move. */
            value: components["schemas"]["ValueView"];
        };
        /** @description The result of a finished game. */
        OutcomeView: {
            /** @description `null` for a draw. */
            winner?: number | null;
        };
        /** @description A parameter of a player. */
        ParameterView: {
            about: string;
            choices?: string[] | null;
            default?: unknown;
            /** @description `integer`, `number`, `choice` or `text` (the training run of a network). */
            kind: string;
            max?: unknown;
            min?: unknown;
            name: string;
        };
        /** @description A finished game. */
        PlayedView: {
            first: number;
            moves: string;
            /** Format: int64 */
            number: number;
            /** @description How many of the moves are the opening. */
            opening: number;
            players: string[];
            reason: string;
            /** @description `null` for a draw. */
            winner?: number | null;
        };
        /** @description A player of a game. */
        PlayerView: {
            /** @description The agent's text. */
            agent?: string | null;
            /**
             * Format: int64
             * @description How long the player has been disconnected.
             */
            away_ms?: number | null;
            /** @description Whether the player is connected; agents always are. */
            connected: boolean;
            /** @description `human`, `open` or `agent`. */
            kind: string;
            /** @description Empty for a person who gave no name. */
            name: string;
            /**
             * Format: int64
             * @description Total thinking time.
             */
            time_ms: number;
            /** @description Whether this is the visitor. */
            you: boolean;
        };
        /** @description A point of the history. */
        PointView: {
            /**
             * Format: int64
             * @description Milliseconds since 1970.
             */
            at: number;
            /**
             * Format: double
             * @description Units per second.
             */
            rate: number;
            /**
             * Format: int64
             * @description Units waiting for a worker.
             */
            waiting: number;
            workers: number;
        };
        /** @description A position: moves from the empty board or from a custom position. */
        PositionInput: {
            /**
             * @description The initial discs, as a picture: lines of `.`, `X` and `O`, the top row first, with
             *     line breaks or `/` between them.
             */
            board?: string | null;
            /** @description The moves from there, as text. */
            moves?: string;
            setup?: components["schemas"]["Setup"];
        };
        /** @description A preset. */
        PresetView: {
            about: string;
            name: string;
        };
        /** @description One of the visitor's games. */
        ProgressView: {
            /** Format: double */
            accuracy?: number | null;
            /** Format: int64 */
            created: number;
            id: string;
            /**
             * Format: double
             * @description 1 for a win, 0.5 for a draw, 0 for a loss.
             */
            points: number;
            /** @description The theme of the visitor's mistake that decided the game, as in reviews; `null` if there was none. */
            theme?: string | null;
        };
        /** @description A position on the standard board in which exactly one move wins or saves the draw. */
        PuzzleView: {
            /**
             * Format: int32
             * @description The solution.
             */
            column: number;
            /**
             * Format: int32
             * @description The number of moves to the win; 0 for a draw.
             */
            discs: number;
            /** @description `win` or `draw`. */
            goal: string;
            /**
             * Format: int32
             * @description From 1 (easiest) to 5.
             */
            grade: number;
            /** @description The moves that lead to it, as text. */
            moves: string;
            /**
             * Format: int32
             * @description Its difficulty as a rating: based on the grade at first, then more and more on visitors' attempts.
             */
            rating: number;
            /** Format: int64 */
            solved: number;
            /**
             * @description `win-now`, `must-block`, `double-threat`, `stacked-threats`, `forcing-moves`, `odd-threat`,
             *     `even-threat`, `no-safe-move`, `follow-up`, `long-plan` or `save-the-draw`.
             */
            themes: string[];
            /**
             * Format: int64
             * @description How many visitors have tried it, and how many of them solved it without a mistake or a hint.
             */
            tried: number;
        };
        /** @description All puzzles. */
        PuzzlesView: {
            /** @description The index of the puzzle of the day. */
            daily: number;
            /** @description The current day in UTC, as `2030-12-31`. */
            date: string;
            /** @description Sorted by difficulty. */
            puzzles: components["schemas"]["PuzzleView"][];
        };
        /** @description A position as text. */
        ReadInput: {
            /** @description The rules, and the size of the board if the text does not give it. */
            setup?: components["schemas"]["Setup"];
            /**
             * @description Moves (`4453`, `4, 4, 5, 3`, `3 3 4 2 0` counted from 0), a link of this page or another
             *     solver (`…?pos=4453`), a picture of `.`, `X` and `O`, or a Kaggle board
             *     (`[0, 0, …]`, `{"board": […]}`).
             */
            text: string;
        };
        /** @description A parsed position. */
        ReadView: {
            /** @description The discs as a picture, the top row first. */
            board: string;
            /** @description The format of the text: `moves`, `link`, `picture` or `kaggle`. */
            kind: string;
            /** @description The moves, if the text contained them. */
            moves?: string | null;
            setup: components["schemas"]["Setup"];
        };
        /** @description A unit or worker, and why it was set aside or dismissed. */
        ReasonView: {
            name: string;
            reason: string;
        };
        /** @description A rematch. */
        RematchView: {
            /** @description The id of the new game; `null` until the other person agrees. */
            id?: string | null;
        };
        /** @description How a game ended. */
        ResultView: {
            /** @description `line`, `board-full`, `time`, `forfeit`, `resigned`, `agreed` or `abandoned`. */
            reason: string;
            /** @description `null` for a draw. */
            winner?: number | null;
        };
        /** @description Results of a group of games. */
        ResultsView: {
            /**
             * Format: double
             * @description The mean accuracy over the reviewed games, and their number.
             */
            accuracy?: number | null;
            /** Format: int32 */
            drawn: number;
            /** Format: int32 */
            games: number;
            /** Format: double */
            high: number;
            key: string;
            /** Format: int32 */
            lost: number;
            /** Format: double */
            low: number;
            /**
             * Format: double
             * @description The mean number of moves of both players.
             */
            moves: number;
            /**
             * Format: double
             * @description The mean time of a move.
             */
            ms_per_move?: number | null;
            /** Format: int32 */
            reviewed: number;
            /**
             * Format: double
             * @description The share of points, a draw counting half, with its 95 % Wilson interval.
             */
            score: number;
            /** Format: int32 */
            won: number;
        };
        /** @description The new duration of a run. */
        ResumeInput: {
            /**
             * Format: double
             * @description Total duration in minutes; unchanged if omitted.
             */
            minutes?: number | null;
        };
        /** @description The preference of a depth-limited search. */
        ReviewEstimateView: {
            /** Format: int32 */
            column: number;
            /**
             * Format: int32
             * @description The depth of the search, in plies.
             */
            depth: number;
            /** @description The expected continuation. */
            pv: number[];
        };
        /** @description The review of a move. */
        ReviewMoveView: {
            best?: components["schemas"]["ColumnValueView"] | null;
            /** @description The value of each column with a known result, from the left. */
            choices: components["schemas"]["ColumnValueView"][];
            /** Format: int32 */
            column: number;
            estimate?: components["schemas"]["ReviewEstimateView"] | null;
            /** @description `best`, `good`, `only`, `slower-win`, `faster-loss`, `mistake`, `blunder` or `unknown`. */
            judgement: string;
            played?: components["schemas"]["ColumnValueView"] | null;
            player: number;
            /** @description `!`, `?`, `??` or empty. */
            sign: string;
        };
        /** @description The summary of a player's moves. */
        ReviewPlayerView: {
            /**
             * Format: double
             * @description The share of the half points at stake that were kept, from 0 to 1; `null` if nothing was at
             *     stake.
             */
            accuracy?: number | null;
            blunders: number;
            faster_losses: number;
            judged: number;
            mistakes: number;
            moves: number;
            only_moves: number;
            slower_wins: number;
        };
        /** @description The review of a finished game. */
        ReviewView: {
            /** @description Whether all moves could be judged. */
            complete: boolean;
            /** @description Which of the players moved first. */
            first: number;
            id: string;
            moves: components["schemas"]["ReviewMoveView"][];
            /** @description How many of the moves are the opening, which is not judged. */
            opening: number;
            /** @description The summaries of both players. */
            players: components["schemas"]["ReviewPlayerView"][];
            setup: components["schemas"]["Setup"];
            turning_point?: components["schemas"]["TurningPointView"] | null;
            /** @description Whether the time of the request was up, so that another one will judge more moves. */
            unfinished: boolean;
        };
        /** @description A new training run. */
        RunInput: {
            /**
             * Format: double
             * @description Duration in minutes.
             */
            minutes: number;
            /** @description `quick`, `10min` or `1h`. */
            preset: string;
            /** Format: int32 */
            seed?: number;
            setup?: components["schemas"]["Setup"];
            /** @description The displayed title. */
            title?: string;
        };
        /** @description A run in a list. */
        RunSummary: {
            /**
             * Format: int64
             * @description Milliseconds since 1970.
             */
            created: number;
            /**
             * Format: int64
             * @description Seconds trained, and the total to train.
             */
            done: number;
            id: string;
            /**
             * Format: int64
             * @description The number of finished iterations.
             */
            iterations: number;
            mine: boolean;
            /** @description The board and the rules. */
            setup: components["schemas"]["Setup"];
            /** @description `queued`, `running`, `stopped`, `done` or `failed`. */
            state: string;
            title: string;
            /** Format: int64 */
            total: number;
        };
        /** @description A run and its progress. */
        RunView: components["schemas"]["RunSummary"] & {
            error?: string | null;
            /** @description The metrics of each iteration, as `claimeven train --json` prints them. */
            history: Record<string, never>[];
            /**
             * @description The iterations whose networks are kept. `zero:model=ID@N` plays with one of them,
             *     `zero:model=ID` with the best.
             */
            networks: number[];
            /** @description The request. */
            plan: Record<string, never>;
            stage?: components["schemas"]["StageView"] | null;
        };
        /** @description A position and the agent to search it. */
        SearchInput: {
            /** @description The agent's text. */
            agent: string;
            /** @description The moves so far, as text. */
            moves?: string;
            /** @description Maximum number of nodes, from 1 to 5000 (default). */
            nodes?: number | null;
            setup?: components["schemas"]["Setup"];
        };
        /** @description The result and the statistics of a search. */
        SearchView: {
            agent: string;
            /** Format: int32 */
            column: number;
            /** Format: int64 */
            cutoffs: number;
            /** Format: int64 */
            leaves: number;
            /** Format: double */
            ms: number;
            /** Format: int64 */
            nodes_searched: number;
            /** @description The principal variation, as move text. */
            pv: string;
            /** Format: int64 */
            simulations: number;
            /** @description Whether the server's time limit ended the search. */
            stopped: boolean;
            /** Format: int64 */
            table_hits: number;
            value: components["schemas"]["ValueView"];
        };
        /** @description Who plays a side. */
        SeatInput: {
            /** @enum {string} */
            kind: "human";
            name?: string | null;
        } | {
            /** @enum {string} */
            kind: "open";
        } | {
            agent: string;
            /** @enum {string} */
            kind: "agent";
            name?: string | null;
        };
        /** @description A server of the database. */
        ServerView: {
            /** @description Whether it reaches the NATS server. */
            connected: boolean;
            /** @description Games whose lease it holds. */
            leased_games?: number | null;
            /** @description Games in its memory. */
            live_games?: number | null;
            name: string;
            /**
             * Format: int64
             * @description Seconds since it was started.
             */
            seconds?: number | null;
            /** @description Whether it is the responding server. */
            this: boolean;
            /** @description `null` if it cannot be reached. */
            version?: string | null;
        };
        /** @description The board and the rules. Missing fields are those of the standard game. */
        Setup: {
            /**
             * Format: int32
             * @default 7
             */
            cols: number;
            /**
             * Format: int32
             * @default 4
             */
            connect: number;
            /**
             * Format: int32
             * @default 6
             */
            rows: number;
            /**
             * @description `standard` or `lines`.
             * @default standard
             */
            ruleset: string;
        };
        /** @description A self-play game. */
        ShownGame: {
            /** Format: int64 */
            iteration: number;
            moves: string;
            /** @description How many of the moves are a random opening. */
            opening: number;
        };
        /** @description The current stage of a run. */
        StageView: {
            /** Format: int64 */
            done: number;
            /** @description `preparing`, `playing`, `learning` or `testing`. */
            kind: string;
            /** Format: int64 */
            of: number;
        };
        /** @description Statistics of finished games. */
        StatisticsView: {
            /**
             * Format: int32
             * @description The number of games counted.
             */
            games: number;
            groups: components["schemas"]["GroupView"][];
            /** @description The distribution of game lengths. */
            lengths: components["schemas"]["LengthView"][];
            /** @description The visitor's latest games, at most 300, the earliest first; empty for everyone's. */
            progress: components["schemas"]["ProgressView"][];
            /** @description All games: the visitor's results, or those of the first player to move. */
            total: components["schemas"]["ResultsView"];
        };
        /** @description A player in a list. */
        SummaryPlayer: {
            agent?: string | null;
            kind: string;
            name: string;
            you: boolean;
        };
        /** @description An empty cell that would complete a line. */
        ThreatView: {
            /** @description Column and row. */
            cell: number[];
            /** @description Whether its row is odd, counted from 1 at the bottom. */
            odd: boolean;
            /** @description Whether it can be played now. */
            open: boolean;
        };
        /** @description A new tournament. */
        TournamentInput: {
            /** @description `round-robin`, or `gauntlet` for the first player against all others. */
            format?: string;
            /**
             * Format: int64
             * @description Games of each pairing.
             */
            games: number;
            /** @description `none`, `balanced:PLIES` or `random:PLIES`. */
            openings?: string | null;
            players: components["schemas"]["EntrantInput"][];
            /** Format: int64 */
            seed?: number | null;
            setup?: components["schemas"]["Setup"];
            /** @description The displayed title. */
            title?: string;
        };
        /** @description A tournament in a list. */
        TournamentSummary: {
            /** Format: int64 */
            created: number;
            /** Format: int64 */
            done: number;
            id: string;
            /** @description The players' names. */
            players: string[];
            state: string;
            title: string;
            /** Format: int64 */
            total: number;
        };
        /** @description A tournament and its current results. */
        TournamentView: {
            /** @description The games in progress or, if workers play them, the latest results. */
            boards: components["schemas"]["BoardView"][];
            /**
             * Format: int64
             * @description Milliseconds since 1970.
             */
            created: number;
            /**
             * Format: int64
             * @description Games played.
             */
            done: number;
            /** @description Why it failed. */
            error?: string | null;
            id: string;
            /** @description Whether it belongs to the visitor. */
            mine: boolean;
            /** @description The request. */
            plan: Record<string, never>;
            /** @description The results so far, as `claimeven arena --json` prints them; `null` before the first game. */
            report?: Record<string, never> | null;
            /** @description `queued`, `running`, `stopped`, `done` or `failed`. */
            state: string;
            title: string;
            /**
             * Format: int64
             * @description Games planned.
             */
            total: number;
            /** @description How many workers of the fleet play it; 0 if this server does, `null` if it is not running here. */
            workers?: number | null;
        };
        /** @description Whether training is allowed, and all runs. */
        TrainingView: {
            /** @description Whether a run can be started. */
            allowed: boolean;
            /** Format: int64 */
            max_minutes: number;
            presets: components["schemas"]["PresetView"][];
            /** @description Why not. */
            reason?: string | null;
            runs: components["schemas"]["RunSummary"][];
        };
        /** @description A search tree with the statistics of the search. */
        TreeView: components["schemas"]["SearchView"] & {
            /**
             * Format: int64
             * @description The number of nodes left out.
             */
            hidden: number;
            /** @description The moves to the root. */
            moves: string;
            /** @description Parents before their children, the root first; for depth-first searches in search order. */
            nodes: components["schemas"]["NodeView"][];
            /**
             * @description The playouts in order, one per simulation: the node each started from, and its result for the
             *     player at the root: 1, 0.5 or 0.
             */
            playouts: [
                number,
                number
            ][];
            setup: components["schemas"]["Setup"];
        };
        /** @description The mistake that decided a game: the result did not change after it. */
        TurningPointView: {
            /** @description The deciding cells, as column and row. */
            cells: number[][];
            /** @description The number of the move, from 1. */
            ply: number;
            /**
             * @description Its theme: `win-now`, `must-block`, `opens-four`, `double-threat`, `stacked-threats`, `forcing-moves`,
             *     `odd-threat`, `even-threat`, `no-safe-move`, `follow-up`, `long-plan` or `save-the-draw`.
             */
            theme: string;
        };
        /** @description The value of a position for the side to move. */
        ValueView: {
            /** @description `win`, `loss`, `draw`, `lines`, `points` or `expected`. */
            kind: string;
            /**
             * Format: double
             * @description Plies to a win or loss, the margin in lines, points, or a probability from 0 to 1.
             */
            number: number;
            text: string;
        };
        /** @description A worker. */
        WorkerView: {
            /** @description `fused` or `unfused` multiply-add, on which the results of networks depend. */
            arithmetic: string;
            /** @description Whether it has the version of this server, so that it can help. */
            compatible: boolean;
            /**
             * Format: int64
             * @description Units that it has completed.
             */
            done: number;
            /**
             * Format: int64
             * @description Units that it has handed back because it was stopped or they failed.
             */
            handed_back: number;
            /** @description The name of its machine with a random suffix. */
            id: string;
            kinds: string[];
            /**
             * Format: double
             * @description Units per second, over the last ten seconds.
             */
            rate: number;
            /** @description Units that it is computing. */
            running: number;
            /**
             * Format: int64
             * @description Seconds since it was started.
             */
            seconds: number;
            threads: number;
            version: string;
            /** @description Units waiting for one of its threads. */
            waiting: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AgentInput = components['schemas']['AgentInput'];
export type AgentView = components['schemas']['AgentView'];
export type AgentsView = components['schemas']['AgentsView'];
export type AnalysisInput = components['schemas']['AnalysisInput'];
export type AnalysisView = components['schemas']['AnalysisView'];
export type AttemptInput = components['schemas']['AttemptInput'];
export type BetterView = components['schemas']['BetterView'];
export type BoardView = components['schemas']['BoardView'];
export type ClockInput = components['schemas']['ClockInput'];
export type ClockView = components['schemas']['ClockView'];
export type CoachMarkView = components['schemas']['CoachMarkView'];
export type ColumnValueView = components['schemas']['ColumnValueView'];
export type ColumnView = components['schemas']['ColumnView'];
export type CutView = components['schemas']['CutView'];
export type EmptyInput = components['schemas']['EmptyInput'];
export type EntrantInput = components['schemas']['EntrantInput'];
export type ErrorView = components['schemas']['ErrorView'];
export type EstimateView = components['schemas']['EstimateView'];
export type ExplainInput = components['schemas']['ExplainInput'];
export type ExplainView = components['schemas']['ExplainView'];
export type ExplanationView = components['schemas']['ExplanationView'];
export type ExplorerMoveView = components['schemas']['ExplorerMoveView'];
export type ExplorerView = components['schemas']['ExplorerView'];
export type Fleet = components['schemas']['Fleet'];
export type FleetJobView = components['schemas']['FleetJobView'];
export type FleetView = components['schemas']['FleetView'];
export type GameSummary = components['schemas']['GameSummary'];
export type GameView = components['schemas']['GameView'];
export type GoneView = components['schemas']['GoneView'];
export type GroupView = components['schemas']['GroupView'];
export type HintInput = components['schemas']['HintInput'];
export type HintView = components['schemas']['HintView'];
export type JoinInput = components['schemas']['JoinInput'];
export type LengthView = components['schemas']['LengthView'];
export type LevelView = components['schemas']['LevelView'];
export type ListView = components['schemas']['ListView'];
export type ListingInput = components['schemas']['ListingInput'];
export type MoveInput = components['schemas']['MoveInput'];
export type MoveView = components['schemas']['MoveView'];
export type NewGameInput = components['schemas']['NewGameInput'];
export type NodeView = components['schemas']['NodeView'];
export type OfferInput = components['schemas']['OfferInput'];
export type OffersView = components['schemas']['OffersView'];
export type OpinionColumnView = components['schemas']['OpinionColumnView'];
export type OpinionInput = components['schemas']['OpinionInput'];
export type OpinionView = components['schemas']['OpinionView'];
export type OutcomeView = components['schemas']['OutcomeView'];
export type ParameterView = components['schemas']['ParameterView'];
export type PlayedView = components['schemas']['PlayedView'];
export type PlayerView = components['schemas']['PlayerView'];
export type PointView = components['schemas']['PointView'];
export type PositionInput = components['schemas']['PositionInput'];
export type PresetView = components['schemas']['PresetView'];
export type ProgressView = components['schemas']['ProgressView'];
export type PuzzleView = components['schemas']['PuzzleView'];
export type PuzzlesView = components['schemas']['PuzzlesView'];
export type ReadInput = components['schemas']['ReadInput'];
export type ReadView = components['schemas']['ReadView'];
export type ReasonView = components['schemas']['ReasonView'];
export type RematchView = components['schemas']['RematchView'];
export type ResultView = components['schemas']['ResultView'];
export type ResultsView = components['schemas']['ResultsView'];
export type ResumeInput = components['schemas']['ResumeInput'];
export type ReviewEstimateView = components['schemas']['ReviewEstimateView'];
export type ReviewMoveView = components['schemas']['ReviewMoveView'];
export type ReviewPlayerView = components['schemas']['ReviewPlayerView'];
export type ReviewView = components['schemas']['ReviewView'];
export type RunInput = components['schemas']['RunInput'];
export type RunSummary = components['schemas']['RunSummary'];
export type RunView = components['schemas']['RunView'];
export type SearchInput = components['schemas']['SearchInput'];
export type SearchView = components['schemas']['SearchView'];
export type SeatInput = components['schemas']['SeatInput'];
export type ServerView = components['schemas']['ServerView'];
export type Setup = components['schemas']['Setup'];
export type ShownGame = components['schemas']['ShownGame'];
export type StageView = components['schemas']['StageView'];
export type StatisticsView = components['schemas']['StatisticsView'];
export type SummaryPlayer = components['schemas']['SummaryPlayer'];
export type ThreatView = components['schemas']['ThreatView'];
export type TournamentInput = components['schemas']['TournamentInput'];
export type TournamentSummary = components['schemas']['TournamentSummary'];
export type TournamentView = components['schemas']['TournamentView'];
export type TrainingView = components['schemas']['TrainingView'];
export type TreeView = components['schemas']['TreeView'];
export type TurningPointView = components['schemas']['TurningPointView'];
export type ValueView = components['schemas']['ValueView'];
export type WorkerView = components['schemas']['WorkerView'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
