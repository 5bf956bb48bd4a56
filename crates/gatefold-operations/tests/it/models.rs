//! What people have spent of models.

use std::sync::Arc;

use gatefold::config::{Config, KeySource, ModelConfig, PeopleGroup};
use gatefold_agent::SpendingLimit;
use gatefold_core::{Principal, UserId};
use gatefold_dispatch::{ModelLedger as _, NewModelUse, UseOrigin, UsedTokens};
use gatefold_model::{Api, ModelSpec};
use gatefold_operations::{Asker, StateOperations};
use gatefold_store::{Store, StoreOptions};

fn model(name: &str) -> ModelConfig {
    let spec = ModelSpec::new(Api::OpenAiChat, "http://127.0.0.1:9/v1".parse().unwrap(), name);
    ModelConfig::new(name.to_owned(), spec, KeySource::Nowhere)
}

#[tokio::test]
async fn everybody_sees_their_own_spending_of_the_models_that_they_may_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::keeping_all()).await.unwrap();
    for (user, name, input) in [("local", "open", 7), ("ann", "open", 30), ("ann", "hidden", 500)] {
        let who = Principal::user(UserId::new(user));
        let tokens = UsedTokens { input, ..UsedTokens::default() };
        let new = NewModelUse::by(&who, UseOrigin::Elsewhere, name);
        store.begin_use(NewModelUse { tokens, ..new }).await.unwrap();
    }
    store.close().await.unwrap();
    let visible_to = vec![PeopleGroup("finance".to_owned())];
    let budget = Some(SpendingLimit { tokens: Some(20), cost: None });
    let models = [
        ModelConfig { budget, ..model("open") },
        ModelConfig { visible_to, ..model("hidden") },
        model("unused"),
    ];
    let user = |name: &str| Asker::Principal(Arc::new(Principal::user(UserId::new(name))));
    for (asker, open, left, usual) in [
        (Asker::Operator, 7, 13, None),
        (user("ann"), 30, 0, Some(5_000_000)),
        (user("bob"), 0, 20, Some(5_000_000)),
    ] {
        let state = StateOperations::open(folder.path(), asker).await.unwrap();
        let today = state.models_today(&models, &Config::default()).await.unwrap();
        let words: Vec<_> =
            today.iter().map(|own| (&*own.name, own.tokens, own.left.tokens)).collect();
        assert_eq!(words, [("open", open, Some(left)), ("unused", 0, usual)]);
        state.close().await.unwrap();
    }
}
