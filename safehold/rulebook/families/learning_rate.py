"""Peak learning rate by stage and size."""

from safehold.rulebook.base import Condition, Family, Rule

_LORA = Condition("method", "=", "lora")

FAMILY = Family(
    name="learning_rate",
    requirement="CONF-5",
    title="Peak learning rate",
    rules=(
        Rule(
            id="learning_rate.limit", topic="learning_rate.limit", quantity="lr", high=0.1, outside="fail",
            reason="One Adam update moves a weight by about the rate, and weights begin near 0.02: nothing could be learnt.",
            source="Kingma and Ba 2015, section 2.1, arXiv 1412.6980 (the rate bounds the step); the limit is ours",
            advice="Look for a slipped exponent.",
        ),
        Rule(
            id="learning_rate.pretrain", topic="learning_rate", quantity="lr", stages=("pretrain",), low=1e-4, high=5e-4,
            reason="A higher rate diverges late in training, a lower one wastes the tokens; it falls as the network grows.",
            source="Brown et al. 2020, table 2.1, arXiv 2005.14165 (6e-4 to 6e-5, falling with size); Touvron et al. 2023, table 2, arXiv 2302.13971 (3e-4 and 1.5e-4); the ends of the span are practice",
        ),
        Rule(
            id="learning_rate.pretrain_tiny", topic="learning_rate", quantity="lr", stages=("pretrain",), max_parameters=3e7,
            low=1e-4, high=5e-3,
            reason="Networks of pilots and demos take more than large ones, though not without end.",
            source="Pythia, Biderman et al. 2023, arXiv 2304.01373, released configs (1e-3 at 14 and 70 million parameters); the upper end is ours",
        ),
        Rule(
            id="learning_rate.pretrain_7b", topic="learning_rate", quantity="lr", stages=("pretrain",), min_parameters=5e9,
            max_parameters=1e10, low=2e-4, high=5e-4,
            reason="Networks of about 7e9 parameters were trained with 3e-4, and practitioners stay near it.",
            source="Touvron et al. 2023, table 2, arXiv 2302.13971 (3e-4 at 6.7e9); OLMo-7B, released config (3e-4); the span around it is practice (Brown et al. 2020, table 2.1, arXiv 2005.14165, had 1.2e-4)",
        ),
        Rule(
            id="learning_rate.pretrain_30b", topic="learning_rate", quantity="lr", stages=("pretrain",), min_parameters=3e10,
            low=1e-4, high=3e-4,
            reason="Large networks diverge at rates that small ones take; 1.5e-4 was used at 65 and 70e9 parameters.",
            source="Touvron et al. 2023, table 2, arXiv 2302.13971 (1.5e-4 at 32.5 and 65.2e9); Hoffmann et al. 2022, arXiv 2203.15556 (1e-4 at 70e9); the upper end is practice",
        ),
        Rule(
            id="learning_rate.continued", topic="learning_rate", quantity="lr", stages=("continued",), low=1e-5, high=3e-4,
            reason="The rate is warmed up again, at most to the peak of the first training; more of it forgets more.",
            source="Ibrahim et al. 2024, arXiv 2403.08763 (warmed up and decayed again); the span is practice",
        ),
        Rule(
            id="learning_rate.sft", topic="learning_rate", quantity="lr", stages=("sft",), low=1e-5, high=2e-5,
            reason="A higher rate overwrites what pretraining learnt, a lower one hardly changes the answers.",
            source="Touvron et al. 2023, section 3.1, arXiv 2307.09288 (2e-5); the lower end is practice",
        ),
        Rule(
            id="learning_rate.lora", topic="learning_rate", quantity="lr", stages=("sft", "continued"), conditions=(_LORA,),
            low=1e-4, high=5e-4,
            reason="Adapters begin at nothing and are few: they need about ten times the rate of all weights.",
            source="Hu et al. 2022, table 11, arXiv 2106.09685 (2e-4); Dettmers et al. 2023, table 9, arXiv 2305.14314 (2e-4, 1e-4 from 33e9 on); the upper end is practice",
        ),
        Rule(
            id="learning_rate.preference", topic="learning_rate", quantity="lr", stages=("preference",), low=1e-7, high=5e-6,
            reason="Preference losses reward running away from the reference; the rate keeps the policy near it.",
            source="Rafailov et al. 2023, appendix B, arXiv 2305.18290 (1e-6); Tunstall et al. 2023, arXiv 2310.16944, released config (5e-7); the ends of the span are practice",
        ),
    ),
)  # fmt: skip
